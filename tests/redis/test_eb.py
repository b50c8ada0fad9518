"""EB.*: every command once, errors, configuration."""

import struct

import redis
from harness import Server, pairs, same, until

with Server("eb") as s:
    # Adding and asking.
    same(s("EB.RESERVE", "a", "bloom:memory=64K,k=7,seed=3"), b"OK")
    s.refuses("item exists", "EB.RESERVE", "a", "bloom:memory=64K")
    same(s("EB.MADD", "a", "x", "y", "x"), [1, 1, 0])
    same(s("EB.ADD", "a", "z"), 1)
    same(s("EB.ADD", "a", "z"), 0)
    same(s("EB.EXISTS", "a", "x"), 1)
    same(s("EB.MEXISTS", "a", "x", "no", b"\0\xff"), [1, 0, 0])
    info = pairs(s("EB.INFO", "a"))
    same((info["adds"], info["new_keys"]), (5, 3))
    assert info["spec"].startswith(b"bloom:") and 0 <= s("MEMORY", "USAGE", "a") - info["bytes"] < 1000
    s.refuses("no filter", "EB.ADD", "missing", "x")
    s.refuses("no filter", "EB.MEXISTS", "missing", "x")
    s("SET", "text", "1")
    s.refuses("WRONGTYPE", "EB.ADD", "text", "x")
    s.refuses("WRONGTYPE", "EB.RESERVE", "text", "bloom")
    s.refuses("wrong number", "EB.MADD", "a")
    s.refuses("unknown argument", "EB.ADD", "a", "x", "SOON", "1")

    # A filter that cannot be merged has a seed that nobody can guess; others, if they are asked for it.
    def seed(spec):
        s("DEL", "seeded")
        same(s("EB.RESERVE", "seeded", spec), b"OK")
        return dict(x.split(b"=") for x in pairs(s("EB.INFO", "seeded"))["spec"].split(b":")[1].split(b","))[b"seed"]
    for spec in "lru:memory=64K", "choosy:memory=64K", "bloom:memory=64K,seed=random":
        assert seed(spec) != seed(spec), spec
    same((seed("bloom:memory=64K"), seed("lru:memory=64K,seed=7")), (b"0", b"7"))

    # Sizes are refused before memory is taken.
    before = s.r.info("memory")["used_memory"]
    s.refuses("max-filter-bytes", "EB.RESERVE", "huge", "bloom:memory=200G")
    s.refuses("max-filter-bytes", "EB.RESERVE", "huge", "bloom:memory=1025M")
    assert s.r.info("memory")["used_memory"] < before + (1 << 20)
    s.refuses("", "EB.RESERVE", "bad", "blom:memory=1K")
    s.refuses("", "EB.RESERVE", "bad", "bloom:memory=1K,nonsense=1")
    same(s("EXISTS", "bad", "huge"), 0)

    # Counting, removing, merging.
    same(s("EB.RESERVE", "c", "spectral:memory=64K,k=5,update=plain"), b"OK")
    same(s("EB.INCRBY", "c", "x", 5, "y", 7, "x", 1), [5, 7, 6])
    same(s("EB.COUNT", "c", "x", "y", "z"), [6, 7, 0])
    same(s("EB.ADD", "c", "x", "WEIGHT", 4), 0)
    same(s("EB.REMOVE", "c", "x", "WEIGHT", 9), 1)
    same(s("EB.REMOVE", "c", "z"), 0)
    same(s("EB.COUNT", "c", "x"), [1])
    s.refuses("remove", "EB.REMOVE", "a", "x")
    s.refuses("count", "EB.COUNT", "a", "x")
    same(s("EB.INSERT", "d", "SPEC", "spectral:memory=64K,k=5,update=plain", "WEIGHTS", "ITEMS", "x", 2, "q", 3), [1, 1])
    same(s("EB.INSERT", "d", "WEIGHT", 2, "ITEMS", "x", "q"), [0, 0])
    same(s("EB.MERGE", "m", 2, "c", "d", "WEIGHTS", 1, 10), b"OK")
    same(s("EB.COUNT", "m", "x", "y", "q"), [41, 7, 50])
    same(s("EB.MERGE", "m", 1, "c"), b"OK")
    same(s("EB.COUNT", "m", "x", "y", "q"), [42, 14, 50])
    for i in range(5):  # full counters tell nothing
        same(s("EB.MERGE", f"brim{i + 1}", 1, f"brim{i}" if i else "d", "WEIGHTS", 1000), b"OK")
    same(s("EB.COUNT", "brim4", "x"), [4 * 10**12])
    same(s("EB.COUNT", "brim5", "x", "nobody"), [b"inf", 0])
    digest = s("DEBUG", "DIGEST-VALUE", "m")
    s.refuses("", "EB.MERGE", "m", 2, "c", "a")
    same(s("DEBUG", "DIGEST-VALUE", "m"), digest)
    same(s("COMMAND GETKEYS", "EB.MERGE", "m", "2", "c", "d"), ["m", "c", "d"])

    # Numbers and ranges.
    same(s("EB.RESERVE", "n", "dyadic:memory=256K,bits=16"), b"OK")
    same(s("EB.MADD", "n", *range(100, 200)), [1] * 100)
    same(s("EB.RANGE", "n", 120, 129), [10, 10])
    s.refuses("number", "EB.MADD", "n", "12", "twelve")
    same(s("EB.RANGE", "n", 0, 99), [0, 0])

    # Packed hashes: bits back.
    s("EB.RESERVE", "h", "lru:memory=64K,seed=1")
    hashes = [(i * 0x9E3779B97F4A7C15 + 0x1234567) % 2**64 for i in range(1, 11)]
    packed = struct.pack("<10Q", *hashes)
    same(s("EB.HADD", "h", packed), b"\xff\x03")
    same(s("EB.HADD", "h", packed + struct.pack("<Q", 77)), b"\x00\x04")
    same(s("EB.HEXISTS", "h", packed[:72]), b"\xff\x01")
    s.refuses("8 bytes", "EB.HADD", "h", b"1234567")
    s("EB.RESERVE", "hc", "spectral:memory=64K")
    s("EB.HADD", "hc", packed, "WEIGHT", 3)
    same(struct.unpack("<10d", s("EB.HCOUNT", "hc", packed)), (3.0,) * 10)

    # Windows take the server's clock; a time may be given, and one that is too early is clamped.
    s("EB.RESERVE", "w", "window:window=10000,unit=time,memory=64K")
    same(s("EB.ADD", "w", "x", "TIME", 1_000_000), 1)
    same(s("EB.ADD", "w", "x", "TIME", 1_009_000), 0)
    same(s("EB.ADD", "w", "y", "TIME", 1_000_000), 1)
    same(s("EB.EXISTS", "w", "y", "TIME", 1_018_000), 1)
    same(s("EB.EXISTS", "w", "y", "TIME", 1_031_000), 0)
    same(s("EB.ADD", "w", "now"), 1)
    same(s("EB.EXISTS", "w", "x"), 0)
    assert pairs(s("EB.INFO", "w"))["clock"] > 1_700_000_000_000
    s("EB.RESERVE", "d2", "decay:halflife=60000,memory=64K")
    s("EB.INSERT", "d2", "TIME", 1_000_000, "WEIGHT", 100, "ITEMS", "x")
    s("EB.INSERT", "d2", "TIME", 1_060_000, "ITEMS", "y")
    s("EB.RESERVE", "r", "window:window=3,unit=records,memory=64K")
    same(s("EB.MADD", "r", "a", "b", "c", "d", "e", "f", "g"), [1] * 7)
    same(s("EB.EXISTS", "r", "a"), 0)
    same(s("EB.EXISTS", "r", "g"), 1)

    # Snapshots, whole and in chunks; a damaged one is an error and changes nothing.
    whole = s("EB.SAVE", "c")
    same(s("EB.LOAD", "c2", whole), b"OK")
    same(s("DEBUG", "DIGEST-VALUE", "c2"), s("DEBUG", "DIGEST-VALUE", "c"))
    s.refuses("BUSYKEY", "EB.LOAD", "c2", whole)
    same(s("EB.LOAD", "c2", whole, "REPLACE"), b"OK")
    at, got = 0, []
    while True:
        at, chunk = s("EB.SAVE", "c", at, 10_000)
        if at == 0:
            break
        got.append(chunk)
    same(b"".join(got), whole)
    at = 0
    for chunk in got:
        same(s("EB.LOAD", "c3", at, chunk), b"OK")
        at += len(chunk)
        if at < len(whole):
            s.refuses("being loaded", "EB.COUNT", "c3", "x")
            for wrong in (at + 1, at - 1, 1):
                s.refuses("next chunk begins", "EB.LOAD", "c3", wrong, chunk)
            if at == len(got[0]) * 3:
                s("DEBUG", "RELOAD")
    same(s("EB.SAVE", "c3"), whole)
    for change in (("EB.ADD", "c3", "one"), ("EB.MADD", "c3", "two", "three")):  # between two chunks
        s("EB.SAVE", "c3", 0, 10_000)
        s(*change)
        same(s("EB.LOAD", "c4", b"".join(s("EB.SAVE", "c3", at, 100_000)[1] for at in range(0, len(whole), 100_000)), "REPLACE"), b"OK")
    s("DEL", "c4")
    s.refuses("follow", "EB.LOAD", "c4", whole + b"x")
    s.refuses("", "EB.LOAD", "c4", whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    same(s("EXISTS", "c4"), 0)

    # COPY, DUMP and RESTORE, RELOAD, DIGEST, MEMORY USAGE, UNLINK.
    digests = {}
    for command in ("BF.RESERVE bf 0.01 200000 EXPANSION 4", "CF.RESERVE cf 200000 BUCKETSIZE 3", "CMS.INITBYDIM cms 70000 4",
                    "TOPK.RESERVE topk 1000 50 5 0.8"):  # whose numbers are kept beside the filter
        same(s(*command.split()), b"OK")
    for key in s("KEYS", "*"):
        if s("TYPE", key) == b"everbloom":
            digests[key] = s("DEBUG", "DIGEST-VALUE", key)
            same(s("COPY", key, b"copy:" + key), 1)
            same(s("DEBUG", "DIGEST-VALUE", b"copy:" + key), digests[key])
            same(s("RESTORE", b"back:" + key, 0, s("DUMP", key)), b"OK")
            same(s("DEBUG", "DIGEST-VALUE", b"back:" + key), digests[key])
            assert s("MEMORY", "USAGE", key) > 64_000
    s("DEBUG", "RELOAD")
    for key, digest in digests.items():
        same(s("DEBUG", "DIGEST-VALUE", key), digest)
    s("EB.ADD", b"copy:a", "only here")
    same(s("EB.EXISTS", "a", "only here"), 0)
    payload = s("DUMP", "a")
    s.refuses("checksum", "RESTORE", "bad", 0, payload[:40] + b"\x81" + payload[41:])

    # What the server says of us.
    stats = s.r.info("everbloom_filters")
    same(stats["everbloom_filters"], 3 * len(digests))
    assert stats["everbloom_filter_bytes"] > 0
    s("UNLINK", *s("KEYS", "*"))
    until("all memory to be freed", lambda: s.r.info("everbloom_filters")["everbloom_filter_bytes"] == 0)
    same(s("CONFIG", "SET", "everbloom.max-filter-bytes", "64mb"), b"OK")
    s.refuses("max-filter-bytes", "EB.RESERVE", "a", "bloom:memory=65M")
    plan = pairs(s("EB.PLAN", "ITEMS", "1e6", "DISTINCT", "5e5", "FPR", "0.001", "BYTES", "1e6"))
    same(s("EB.RESERVE", "planned", plan["spec"]), b"OK")
    docs = pairs(s("COMMAND DOCS", "EB.MADD")[1])
    same((docs["group"], docs["since"]), (b"module", b"0.1.0"))
    s.r.config_set("notify-keyspace-events", "KEd")
    p = s.r.pubsub()
    p.psubscribe("__keyevent@*__:eb.*")
    until("the subscription", lambda: p.get_message(timeout=1))
    s("EB.ADD", "planned", "x")
    message = until("an event", lambda: p.get_message(timeout=1))
    same((message["channel"], message["data"]), (b"__keyevent@0__:eb.add", b"planned"))

    # Who may do what; no memory, no adds.
    categories = b"everbloom" in s("ACL", "CAT")  # else the server knows no categories of modules' commands
    s("ACL", "SETUSER", "reader", "on", "nopass", "~*", *(["+@read"] if categories else ["+eb.exists"]))
    reader = redis.Redis("127.0.0.1", s.port, username="reader", password="x")
    same(reader.execute_command("EB.EXISTS", "planned", "x"), 1)
    try:
        reader.execute_command("EB.ADD", "planned", "y")
        raise AssertionError("a reader may write")
    except redis.exceptions.NoPermissionError:
        pass
    if categories:
        s("ACL", "SETUSER", "ours", "on", "nopass", "~*", "+@everbloom")
        ours = redis.Redis("127.0.0.1", s.port, username="ours", password="x")
        same((ours.execute_command("BF.ADD", "by category", "y"), ours.execute_command("EB.EXISTS", "planned", "x")), (1, 1))
    else:
        assert s.r.info("server")["redis_version"] == "7.0.15", "this server has no category everbloom"
    s("CONFIG", "SET", "maxmemory", "1")
    for command in (("EB.ADD", "planned", "z"), ("BF.ADD", "new", "z"), ("EB.RESERVE", "new", "bloom:memory=64K")):
        s.refuses("maxmemory", *command)
    same(s("EB.EXISTS", "planned", "x"), 1)
    s("CONFIG", "SET", "maxmemory", "0")
    s.alive()

with Server("eb-names", module=["name", "bf", "prefix", "BLOOM", "compat", "no"]) as s:
    same(s("BLOOM.RESERVE", "a", "bloom:memory=64K"), b"OK")
    s.refuses("unknown command", "EB.RESERVE", "a", "bloom")
    s.refuses("unknown command", "BF.ADD", "a", "x")
    same(s("CONFIG", "GET", "bf.prefix"), [b"bf.prefix", b"BLOOM"])
    assert any(b"bf" in m for m in s("MODULE", "LIST"))
    same(s("CONFIG", "GET", "bf.compat"), [b"bf.compat", b"no"])
