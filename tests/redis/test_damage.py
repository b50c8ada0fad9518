"""Values with flipped bytes: RESTORE and EB.LOAD refuse them or make something that works, and the server lives.

The server's own checksum is switched off, as if it were right; half of the snapshots get right checksums of
their own, too, so that the checks of each kind are what refuses them.
"""

import os
import random
import struct

import redis
import xxhash
from harness import Server
from kinds import Operations, specs

OPERATIONS = int(float(os.environ.get("EVERBLOOM_DAMAGES", "3000")))
MAGIC = b"\x89EVB\r\n\x1a\n"
BATCH = 100


def sign(snapshot):
    """A snapshot with right checksums: docs/FORMAT.md."""
    offset, length = struct.unpack_from("<IQ", snapshot, 20)
    if offset + length > len(snapshot):
        return snapshot
    whole = bytearray(snapshot)
    digest = xxhash.xxh3_128_intdigest(bytes(whole[offset : offset + length]))
    struct.pack_into("<QQ", whole, 32, digest & (2**64 - 1), digest >> 64)
    seed = xxhash.xxh3_64_intdigest(bytes(whole[:56]))
    struct.pack_into("<Q", whole, 56, xxhash.xxh3_64_intdigest(bytes(whole[64:offset]), seed))
    return bytes(whole)


def flip(r, data, low, high):
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 1, 2, 5, 40))):
        at = r.randrange(low, high)
        data[at] = r.choice((data[at] ^ 1 << r.randrange(8), r.randrange(256), 0, 255))
    return bytes(data)


def flip_snapshot(r, snapshot):
    """One that is damaged in its block, and has the checksums that belong to it."""
    (offset,) = struct.unpack_from("<I", snapshot, 20)
    return sign(flip(r, snapshot, offset, min(len(snapshot), offset + r.choice((64, 256, len(snapshot))))))


with Server("damage", "--rdbcompression", "no") as s:
    s("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1")
    made = specs("1K")
    for key, spec in list(made.items()):
        try:
            s("EB.RESERVE", key, spec)
        except redis.ResponseError:  # too small for this kind
            made[key] = spec.replace("memory=1K", "memory=8K")
            s("EB.RESERVE", key, made[key])
    operations = Operations(made, 5)
    for _ in range(1000):
        try:
            s(*operations.next())
        except redis.ResponseError:
            pass
    s("CMS.INITBYDIM", "cms", 30, 4)
    keys = list(made) + ["cms"]
    dumps = {key: s("DUMP", key) for key in keys}
    snapshots = {key: s("EB.SAVE", key) for key in keys}
    s("EB.LOAD", "part", 0, snapshots["lru"][:700])
    dumps["part"] = s("DUMP", "part")
    r = random.Random(99)
    taken = 0
    for at in range(0, OPERATIONS, BATCH):
        pipe = s.r.pipeline(transaction=False)
        for i in range(BATCH):
            key = r.choice(list(dumps))
            if i % 2 == 0 or key == "part":
                dump = dumps[key]
                if i % 4 == 0 and key != "part":  # the snapshot inside, with its own checksums
                    low = dump.index(MAGIC)
                    head = dump[low : low + 64]
                    offset, length = struct.unpack_from("<IQ", head, 20)
                    block = dump.rindex(snapshots[key][offset:])
                    signed = flip_snapshot(r, snapshots[key])
                    dump = dump[:low] + signed[:offset] + dump[low + offset : block] + signed[offset:] + dump[block + length :]
                else:
                    dump = flip(r, dump, 0, len(dump) - 10)
                pipe.execute_command("RESTORE", "x", 0, dump, "REPLACE")
            else:
                snapshot = flip_snapshot(r, snapshots[key]) if i % 3 else flip(r, snapshots[key], 0, len(snapshots[key]))
                pipe.execute_command("EB.LOAD", "x", snapshot, "REPLACE")
            for command in (("EB.INFO", "x"), ("EB.MADD", "x", 1, 2, 3), ("EB.INCRBY", "x", 4, 5), ("EB.COUNT", "x", 1, 2),
                            ("EB.REMOVE", "x", 4), ("CMS.INCRBY", "x", 1, 1), ("BF.INFO", "x"), ("CF.INFO", "x"), ("DUMP", "x")):
                pipe.execute_command(*command)
            pipe.execute_command("DEL", "x")
        replies = pipe.execute(raise_on_error=False)
        for reply in replies:  # a server that is gone must not look like one that refuses
            if isinstance(reply, redis.ConnectionError):
                s.alive()
                raise reply
        taken += sum(reply == b"OK" for reply in replies[::11])
    s.alive()
    assert s.r.ping() and 0 < taken < OPERATIONS * 3 // 4, taken
    print(f"damage: {taken} of {OPERATIONS} were taken, as harmless")
