"""Server CPU an item, from INFO cpu, of our commands beside SADD, SET and PING, in the same rounds.

Run it with bench/redis.sh.  The client prepares all bytes before the clock starts; only the server's CPU time counts.
"""

import os
import random
import socket
import statistics
import struct
import time

from harness import Server

ITEMS = int(float(os.environ.get("ITEMS", "1e6")))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
ROWS = os.environ.get("ROWS", "")  # only rows with this in their name, and nothing but rows


def pack(*args):
    out = [b"*%d\r\n" % len(args)]
    for a in args:
        a = a if isinstance(a, bytes) else str(a).encode()
        out.append(b"$%d\r\n%s\r\n" % (len(a), a))
    return b"".join(out)


def cpu(s):
    info = s.r.info("cpu")
    return info["used_cpu_user_main_thread"] + info["used_cpu_sys_main_thread"]


def item(r):
    return b"user:%012d" % r.randrange(10**12)


def singles(command, key, depth):
    def make(r, n):
        commands = [pack(command, key, item(r)) if key else pack(command) for _ in range(n)]
        return [b"".join(commands[i : i + depth]) for i in range(0, n, depth)], depth
    return make


def sets(depth):
    def make(r, n):
        commands = [pack("SET", item(r), b"1") for _ in range(n)]
        return [b"".join(commands[i : i + depth]) for i in range(0, n, depth)], depth
    return make


def many(command, key, each, depth):
    def make(r, n):
        commands = [pack(command, key, *[item(r) for _ in range(each)]) for _ in range(n // each)]
        return [b"".join(commands[i : i + depth]) for i in range(0, len(commands), depth)], depth
    return make


def packed(command, key, each, depth):
    def make(r, n):
        commands = [pack(command, key, struct.pack(f"<{each}Q", *[r.getrandbits(64) for _ in range(each)])) for _ in range(n // each)]
        return [b"".join(commands[i : i + depth]) for i in range(0, len(commands), depth)], depth
    return make


def send(port, blocks):
    """Sends a block of pipelined commands, and waits for the reply to a PING behind it."""
    with socket.create_connection(("127.0.0.1", port)) as c:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for block in blocks:
            c.sendall(block + b"*2\r\n$4\r\nECHO\r\n$9\r\nend-of-it\r\n")
            tail = b""
            while not tail.endswith(b"end-of-it\r\n"):
                got = c.recv(1 << 18)
                assert got, "the server is gone"
                tail = (tail + got)[-11:]


FILTER = "lru:memory=16M"  # as many items as a run adds; pages of a larger one would be what is measured
TESTS = [  # name, key, how to make the key, what to send, what to compare with
    ("PING, pipeline 128", None, None, singles("PING", None, 128), None),
    ("SET, pipeline 128", None, None, sets(128), None),
    ("SADD, pipeline 128", "set1", None, singles("SADD", "set1", 128), None),
    ("EB.ADD, pipeline 128", "f1", FILTER, singles("EB.ADD", "f1", 128), "SADD, pipeline 128"),
    ("BF.ADD, pipeline 128", "b1", 1, singles("BF.ADD", "b1", 128), "SADD, pipeline 128"),
    ("BF.ADD, room for ten times, pipeline 128", "b3", 10, singles("BF.ADD", "b3", 128), "SADD, pipeline 128"),
    ("SADD of 100, pipeline 16", "set2", None, many("SADD", "set2", 100, 16), None),
    ("EB.MADD of 100, pipeline 16", "f2", FILTER, many("EB.MADD", "f2", 100, 16), "SADD of 100, pipeline 16"),
    ("BF.MADD of 100, pipeline 16", "b2", 1, many("BF.MADD", "b2", 100, 16), "SADD of 100, pipeline 16"),
    ("EB.HADD of 1000, pipeline 16", "f3", FILTER, packed("EB.HADD", "f3", 1000, 16), "EB.MADD of 100, pipeline 16"),
    ("EB.MEXISTS of 100, pipeline 16", "f2", FILTER, many("EB.MEXISTS", "f2", 100, 16), "SADD of 100, pipeline 16"),
]


def memory(s):
    print("memory an item")
    for name, make in (("SET", sets(128)), ("SADD", many("SADD", "s", 100, 16))):
        s("FLUSHALL")
        before = s.r.info("memory")["used_memory"]
        send(s.port, make(random.Random(1), ITEMS)[0])
        print(f"  {name:32} {(s.r.info('memory')['used_memory'] - before) / ITEMS:7.1f} bytes")
    for error in (0.01, 0.0001):
        s("FLUSHALL")
        s("BF.RESERVE", "b", error, ITEMS)
        send(s.port, many("BF.MADD", "b", 100, 16)(random.Random(1), ITEMS)[0])
        print(f"  BF, error rate {error:<17} {s('MEMORY', 'USAGE', 'b') / ITEMS:7.1f} bytes")


def large(s):
    print("a filter of 4 GB")
    s("CONFIG", "SET", "everbloom.max-filter-bytes", "5gb")
    before, start = cpu(s), time.monotonic()
    s("EB.RESERVE", "large", "bloom:memory=4G")
    print(f"  EB.RESERVE                       {(cpu(s) - before) * 1e3:7.1f} ms of CPU, {(time.monotonic() - start) * 1e3:.1f} ms of waiting")


def saving(s):
    print("BGSAVE while items are added")
    s("FLUSHALL")
    s("EB.RESERVE", "f", "lru:memory=256M")
    blocks = many("EB.MADD", "f", 100, 16)(random.Random(2), ITEMS)[0]
    send(s.port, blocks)
    s("BGSAVE")
    while s.r.info("persistence")["rdb_bgsave_in_progress"]:
        send(s.port, blocks[:20])
    p = s.r.info("persistence")
    print(f"  filter {s('MEMORY', 'USAGE', 'f') >> 20} MB, copied on write {p['rdb_last_cow_size'] >> 20} MB, "
          f"{p['rdb_last_bgsave_time_sec']} s, {p['rdb_last_bgsave_status']}")


TESTS = [row for row in TESTS if ROWS in row[0]]

with Server("bench") as s:
    got = {name: [] for name, *_ in TESTS}
    for at in range(ROUNDS):
        for name, key, spec, make, _ in TESTS:
            blocks, _ = make(random.Random(f"{name}{at}"), ITEMS)
            s("FLUSHALL")
            if isinstance(spec, int):  # room for so many times the items
                s("BF.RESERVE", key, "0.001", spec * ITEMS)
            elif spec:
                s("EB.RESERVE", key, spec)
            before = cpu(s)
            send(s.port, blocks)
            got[name].append((cpu(s) - before) / ITEMS * 1e9)
    print(f"server CPU an item, median of {ROUNDS} rounds of {ITEMS} items, {s.r.info('server')['redis_version']}")
    median = {name: statistics.median(v) for name, v in got.items()}
    for name, _, _, _, beside in TESTS:
        ratio = f"{statistics.median(a / b for a, b in zip(got[name], got[beside])):6.2f} of {beside}" if beside in got else ""
        print(f"  {name:42} {median[name]:7.0f} ns   {ratio}")
    if not ROWS:
        memory(s)
        large(s)
        saving(s)
