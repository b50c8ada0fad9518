"""Values with flipped bytes: RESTORE and EB.LOAD refuse them or make a filter that works, and the server lives.

The server's own checksum is switched off, as if it were right; half of the snapshots get right checksums of
their own, too, so that the checks of each kind are what refuses them.  Many flips only turn a filter into
another valid one.  What is taken must prove that it is one: it takes keys and finds them, and what it is saved
as, before and after, loads again to the same bytes.
"""

import os
import random
import struct

import redis
from damage import flip, flip_snapshot
from harness import Server
from kinds import Operations, specs

OPERATIONS = int(float(os.environ.get("EVERBLOOM_DAMAGES", "3000")))
MAGIC = b"\x89EVB\r\n\x1a\n"
BATCH = 100


CERTAIN = (b"bloom:", b"spectral", b"window:", b"decay:", b"top:")  # none of these misses a key that was just added
USES = [("EB.SAVE", "x"), ("EB.INFO", "x"), ("EB.MADD", "x", 1, 2, 3), ("EB.MEXISTS", "x", 2, 3), ("EB.INCRBY", "x", 4, 5),
        ("EB.COUNT", "x", 1, 2), ("EB.REMOVE", "x", 4), ("EB.TOP", "x"), ("EB.RANGE", "x", 1, 9), ("CMS.INCRBY", "x", 1, 1),
        ("BF.INFO", "x"), ("CF.INFO", "x"), ("EB.SAVE", "x"), ("DUMP", "x"), ("DEL", "x")]
NAMES = ["before", *[c[0] for c in USES[1:-3]], "after", "DUMP", "DEL"]


def damaged(r, i):
    """A command with a damaged value."""
    key = r.choice(list(dumps))
    if i % 2 and key != "part":
        snapshot = snapshots[key]
        return "EB.LOAD", "x", flip_snapshot(r, snapshot) if i % 3 else flip(r, snapshot, 0, len(snapshot)), "REPLACE"
    dump = dumps[key]
    if i % 4 == 0 and key != "part":  # the snapshot inside, with its own checksums
        low = dump.index(MAGIC)
        offset, length = struct.unpack_from("<IQ", dump, low + 20)
        block = dump.rindex(snapshots[key][offset:])
        signed = flip_snapshot(r, snapshots[key])
        dump = dump[:low] + signed[:offset] + dump[low + offset : block] + signed[offset:] + dump[block + length :]
    else:
        dump = flip(r, dump, 0, len(dump) - 10)
    return "RESTORE", "x", 0, dump, "REPLACE"


def results(pipe):
    """Replies; a server that is gone must not look like one that refuses."""
    replies = pipe.execute(raise_on_error=False)
    for reply in replies:
        if isinstance(reply, redis.ConnectionError):
            s.alive()
            raise reply
    return replies


def reload_all(saved, dumped):
    pipe = s.r.pipeline(transaction=False)
    saved = [x for x in saved if not isinstance(x, redis.ResponseError)]  # one that is half here cannot be saved
    for x in saved:
        pipe.execute_command("EB.LOAD", "y", x, "REPLACE").execute_command("EB.SAVE", "y")
    for x in dumped:
        pipe.execute_command("RESTORE", "y", 0, x, "REPLACE").execute_command("DUMP", "y")
    replies = results(pipe)
    for x, loaded, again in zip(saved + dumped, replies[::2], replies[1::2]):
        assert loaded == b"OK" and x == again, (loaded, x[64:300])


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
            pipe.execute_command(*damaged(r, i))
            for command in USES:
                pipe.execute_command(*command)
        replies = results(pipe)
        tries = [replies[i : i + 1 + len(USES)] for i in range(0, len(replies), 1 + len(USES))]
        good = [dict(zip(NAMES, t[1:])) for t in tries if t[0] == b"OK"]
        for reply in good:
            info, found = reply["EB.INFO"], reply["EB.MEXISTS"]
            added = reply["EB.MADD"]
            if isinstance(added, list) and set(map(type, added)) == {int} and info[1].startswith(CERTAIN):
                assert found == [1, 1], (info, found)
        reload_all([g["before"] for g in good] + [g["after"] for g in good], [g["DUMP"] for g in good])
        taken += len(good)
    s.alive()
    assert s.r.ping() and 0 < taken < OPERATIONS * 3 // 4, taken
    print(f"damage: {taken} of {OPERATIONS} were taken, and are filters")
