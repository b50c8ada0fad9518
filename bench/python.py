#!/usr/bin/env python3
"""Speed from Python, in one run: single keys, lists and columns, beside a set, the C library and a pure Python filter.

    make all python && python3 -m venv v
    v/bin/pip install numpy==2.2.6 pyarrow==20.0.0 pyprobables==0.6.2 build/python/everbloom-*.whl
    v/bin/python bench/python.py build/release/libeverbloom.so.*

Every way adds the same million keys to a filter of 64 MiB; CPU time, the median of 15 rounds, in which the ways take
turns, with the fastest and the slowest round beside it.  The first round meets new keys, the others known ones.  At the end: the
goals, and whether this run met them.
"""

import ctypes
import glob
import statistics
import sys
import time

import everbloom

N = 1_000_000
ROUNDS = 15
SPEC = "lru:memory=64M"
words = [f"user-{i * 7919 % 10_000_000}" for i in range(N)]
numbers = [i * 7919 for i in range(N)]


class Keys(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_uint32), ("layout", ctypes.c_uint32),
                ("data", ctypes.c_void_p), ("width", ctypes.c_size_t), ("stride", ctypes.c_ssize_t),
                ("offsets", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]  # fmt: skip


class Batch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("n", ctypes.c_size_t), ("hash", ctypes.c_void_p), ("keys", ctypes.c_void_p),
                ("value", ctypes.c_void_p), ("time", ctypes.c_void_p), ("flags", ctypes.c_uint32),
                ("first_shard", ctypes.c_uint32), ("n_shards", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("seen", ctypes.c_void_p), ("count", ctypes.c_void_p), ("expelled", ctypes.c_void_p),
                ("ctx", ctypes.c_void_p)]  # fmt: skip


def in_c(path, spec, column):
    """The same column added by the C library itself: one call a round."""
    library = ctypes.CDLL(path)
    f = ctypes.c_void_p()
    error = ctypes.create_string_buffer(512)
    if library.eb_new(ctypes.byref(f), spec.encode(), None, error):
        raise SystemExit(error.raw[16:].split(b"\0")[0].decode())
    keys = Keys(ctypes.sizeof(Keys), 3, 2, column.ctypes.data, 8, 8, None, 0)
    batch = Batch(size=ctypes.sizeof(Batch), n=len(column), keys=ctypes.addressof(keys))

    def work():
        if library.eb_add_batch(f, ctypes.byref(batch), error):
            raise SystemExit(error.raw[16:].split(b"\0")[0].decode())

    work.keep = keys
    return work


def singles(add, items):
    for item in items:
        add(item)


def ways():
    known = set()

    def in_set():
        for word in words:
            if word not in known:
                known.add(word)

    f = everbloom.Filter(SPEC)
    yield "set of Python, one str", in_set, N
    yield "one str", lambda: singles(f.add, words), N
    yield "one str of 64 KiB filter", lambda g=everbloom.Filter("lru:memory=64K"): singles(g.add, words), N
    yield "list of str", lambda: f.update(words), N
    yield "list of str, with answers", lambda: f.add(words), N
    yield "list of int", lambda: f.update(numbers), N
    yield "dedup(), lazily", lambda: sum(1 for _ in everbloom.dedup(words)), N
    try:
        import numpy as np
    except ImportError:
        print("numpy is not installed: its rows are missing")
    else:
        column = np.array(numbers)
        typed = everbloom.Filter(SPEC + ",keys=i64")
        path = (sys.argv[1:2] or glob.glob("build/release/libeverbloom.so.*"))[0]
        yield "numpy int64", lambda: f.update(column), N
        yield "C, int64", in_c(path, SPEC, column), N
        yield "numpy int64, keys=i64", lambda: typed.update(column), N
        yield "C, int64, keys=i64", in_c(path, SPEC + ",keys=i64", column), N
        yield "numpy S16", lambda a=np.array(words, dtype="S16"): f.update(a), N
    try:
        import pyarrow as pa
    except ImportError:
        print("pyarrow is not installed: its row is missing")
    else:
        yield "Arrow strings", lambda a=pa.array(words): f.update(a), N
    try:
        from probables import BloomFilter
    except ImportError:
        print("pyprobables is not installed: its row is missing")
    else:
        peer = BloomFilter(est_elements=N, false_positive_rate=0.001)
        few = words[: N // 50]
        yield "pyprobables, one str", lambda: singles(peer.add, few), len(few)


rows = list(ways())
rounds = {name: [] for name, _, _ in rows}
for _ in range(ROUNDS):
    for name, work, n in rows:
        start = time.process_time()
        work()
        rounds[name].append((time.process_time() - start) / n * 1e9)
median = {name: statistics.median(taken) for name, taken in rounds.items()}
print(f"Python {sys.version.split()[0]}, ns of CPU a key: median, fastest, slowest of {ROUNDS} rounds")
for name, taken in rounds.items():
    print(f"{name:28} {median[name]:9.1f} {min(taken):9.1f} {max(taken):9.1f}")


def goal(name, over, under, least=0.0, most=float("inf")):
    """A goal for the time of `over`, divided by that of `under` if there is one."""
    if over in median and (under is None or under in median):
        value = median[over] / (median[under] if under else 1)
        wanted = f"at most {most:g}" if least == 0 else f"at least {least:g}"
        print(f"{name:28} {value:9.2f}   {wanted}: {'met' if least <= value <= most else 'MISSED'}")


goal("one str, ns", "one str", None, most=350)
goal("list of str, ns", "list of str", None, most=60)
goal("numpy / C", "numpy int64", "C, int64", most=1.3)
goal("numpy / C, keys=i64", "numpy int64, keys=i64", "C, int64, keys=i64", most=1.3)
goal("pyprobables / one str", "pyprobables, one str", "one str", least=50)
goal("pyprobables / list of str", "pyprobables, one str", "list of str", least=50)
