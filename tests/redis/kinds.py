"""A small filter of every kind there is, by spec, and random operations on it."""

import os
import random
import struct
import subprocess
import zlib

from harness import BUILD

OPTIONS = {  # what a kind needs besides its size
    "window": "window=5000,unit=time",
    "decay": "halflife=20000",
    "aging": "period=1000",
    "dyadic": "bits=16",
    "weighted": "class_bits=3:5",
    "choosy": "fpr=0.01,distinct=2000",
    "spectral": "update=plain",
}


def names():
    out = subprocess.check_output([os.path.join("build/release", "everbloom"), "kinds"], text=True,
                                  env={**os.environ, "LD_PRELOAD": ""})
    return [line.split()[0] for line in out.splitlines() if line.startswith("  ")]


def specs(memory):
    """Key and spec of a filter of every kind, and of more forms of some."""
    some = {}
    for name in names():
        some[name] = f"{name}:memory={memory}" + (f",{OPTIONS[name]}" if name in OPTIONS else "")
    some["conservative"] = f"spectral:memory={memory},update=conservative"
    some["records"] = f"window:memory={memory},window=300,unit=records"
    some["grows"] = "bloom:limit=50,fpr=0.01,grow=2"
    some["full"] = "bloom:limit=100,distinct=100,fpr=0.01"
    some["shards"] = f"lru:memory={memory},shards=4"
    return some


class Operations:
    """The same random commands for the same seed; times go on, and sometimes back."""

    def __init__(self, keys, seed):
        self.keys, self.random, self.now = list(keys), random.Random(seed), 1_700_000_000_000

    def item(self, key):
        n = int(self.random.paretovariate(0.7)) % 3000
        return str(n) if key in ("dyadic",) or self.random.random() < 0.9 else b"key \xff\0 %d" % n

    def next(self):
        r = self.random
        key = r.choice(self.keys)
        n = 1 + int(r.expovariate(0.2))
        self.now += int(r.expovariate(1 / 5))
        when = self.now - (r.randrange(100) if r.random() < 0.1 else 0)
        items = [self.item(key) for _ in range(n)]
        weights = [r.randrange(1, 3 if key in ("weighted",) else 20) for _ in range(n)]
        what = r.randrange(12)
        if what < 2:
            return ("EB.MADD", key, *items)  # at the server's time, which is far ahead: later times are clamped
        if what < 5:
            return ("EB.INSERT", key, "TIME", when, "ITEMS", *items)
        if what < 7:
            pairs = [x for pair in zip(items, weights) for x in pair]
            return ("EB.INSERT", key, "TIME", when, "WEIGHTS", "ITEMS", *pairs)
        if what == 7:
            return ("EB.INCRBY", key, *[x for pair in zip(items, weights) for x in pair])
        if what == 8:
            return ("EB.REMOVE", key, items[0], "WEIGHT", 1)
        if what == 9 and key != "dyadic":
            return ("EB.HADD", key, struct.pack(f"<{n}Q", *[zlib.crc32(f"{key} {i}".encode()) * 0x9E3779B97F4A7C15 % 2**64 for i in range(n)]),
                    "TIME", when)
        if what == 10 and r.random() < 0.02:
            return ("COPY", key, "copy:" + key, "REPLACE")
        if what == 11 and r.random() < 0.02 and key != "grows":  # which would double with each merge
            return ("EB.MERGE", key, 1, "copy:" + key)
        return ("EB.MEXISTS", key, *items)
