"""Known commands from a known client: python3-redis with bf(), cms() and cf(), as its users write it.

RESP2 here; tests/redis/known.mjs says the same from Node on RESP2 and RESP3.
"""

import redis
from harness import Server, same

with Server("compat") as s:
    r = redis.Redis("127.0.0.1", s.port, decode_responses=True)

    # Bloom filters.
    bf = r.bf()
    assert bf.create("bloom", 0.01, 1000)
    assert bf.create("bloom_e", 0.01, 1000, expansion=1)
    assert bf.create("bloom_ns", 0.01, 1000, noScale=True)
    same(bf.add("bloom", "foo"), 1)
    same(bf.add("bloom", "foo"), 0)
    same(bf.madd("bloom", "foo", "bar", "baz"), [0, 1, 1])
    same(bf.exists("bloom", "foo"), 1)
    same(bf.exists("bloom", "no"), 0)
    same(bf.mexists("bloom", "foo", "no"), [1, 0])
    same(bf.exists("never", "foo"), 0)
    same(bf.insert("captest", ["foo"], capacity=1000, error=0.01), [1])
    same(bf.insert("bloom", ["foo", "qux"]), [0, 1])
    info = bf.info("bloom")
    same((info.insertedNum, info.capacity, info.filterNum, info.expansionRate), (4, 1000, 1, 2))
    same(bf.info("bloom_ns").expansionRate, None)
    same(bf.info("bloom_e").expansionRate, 1)
    same(s("BF.CARD", "bloom"), 4)
    same(s("BF.CARD", "never"), 0)
    same(s("BF.INFO", "bloom", "ITEMS"), [4])
    same(bf.add("made by add", "x"), 1)
    same(bf.info("made by add").capacity, 100)
    for i in range(1000):
        bf.add("bloom_ns", i)
    filled = [bf.madd("bloom_ns", *range(10_000 + i, 10_020 + i)) for i in range(0, 100, 20)][-1]
    assert all(isinstance(x, redis.ResponseError) and "non scaling filter is full" in str(x) or x == 0 for x in filled), filled
    s.refuses("item exists", "BF.RESERVE", "bloom", "0.01", "100")
    s.refuses("bad error rate", "BF.RESERVE", "q", "soon", "100")
    s.refuses("(0 < error rate range < 1)", "BF.RESERVE", "q", "1", "100")
    s.refuses("bad capacity", "BF.RESERVE", "q", "0.01", "many")
    s.refuses("larger than 0", "BF.RESERVE", "q", "0.01", "0")
    s.refuses("Nonscaling filters cannot expand", "BF.RESERVE", "q", "0.01", "100", "EXPANSION", "2", "NONSCALING")
    s.refuses("not found", "BF.INSERT", "q", "NOCREATE", "ITEMS", "x")
    s.refuses("not found", "BF.INFO", "q")
    s.refuses("max-filter-bytes", "BF.RESERVE", "q", "0.0001", "1000000000000")
    same(s("EXISTS", "q"), 0)

    # A filter that grew to a hundred times its first capacity keeps its rate.
    bf.create("grown", 0.01, 1000)
    for at in range(0, 100_000, 1000):
        bf.madd("grown", *range(at, at + 1000))
    false = sum(sum(bf.mexists("grown", *range(at, at + 1000))) for at in range(10**6, 10**6 + 50_000, 1000))
    assert false <= 0.01 * 50_000 + 3 * (0.01 * 50_000) ** 0.5, false
    same(sum(bf.mexists("grown", *range(0, 1000))), 1000)
    assert bf.info("grown").filterNum > 3 and bf.info("grown").insertedNum > 98_000

    # SCANDUMP and LOADCHUNK.
    raw = redis.Redis("127.0.0.1", s.port)
    at, chunks = 0, []
    while True:
        at, data = raw.bf().scandump("grown", at)
        if at == 0:
            break
        chunks.append((at, data))
    raw.delete("back")
    for at, data in chunks:
        assert raw.bf().loadchunk("back", at, data) == b"OK"
    same(s("EB.SAVE", "back"), s("EB.SAVE", "grown"))
    same(s("BF.EXISTS", "back", 5), 1)

    # Counts.
    cms = r.cms()
    assert cms.initbydim("dim", 1000, 5)
    assert cms.initbyprob("prob", 0.01, 0.01)
    same(cms.incrby("dim", ["foo"], [5]), [5])
    same(cms.incrby("dim", ["foo", "bar"], [5, 15]), [10, 15])
    same(cms.query("dim", "foo", "bar", "no"), [10, 15, 0])
    info = cms.info("dim")
    same((info.width, info.depth, info.count), (1000, 5, 25))
    same((cms.info("prob").width, cms.info("prob").depth), (200, 7))
    for key in "ABC":
        assert cms.initbydim(key, 1000, 5)
    cms.incrby("A", ["foo", "bar", "baz"], [5, 3, 9])
    cms.incrby("B", ["foo", "bar", "baz"], [2, 3, 1])
    assert cms.merge("C", 2, ["A", "B"])
    same(cms.query("C", "foo", "bar", "baz"), [7, 6, 10])
    assert cms.merge("C", 2, ["A", "B"], ["1", "2"])
    same(cms.query("C", "foo", "bar", "baz"), [9, 9, 11])
    same(cms.info("C").count, 17 + 12)
    s.refuses("CMS: key already exists", "CMS.INITBYDIM", "dim", 10, 10)
    s.refuses("CMS: key does not exist", "CMS.INCRBY", "none", "x", 1)
    s.refuses("CMS: key does not exist", "CMS.MERGE", "none", 1, "A")
    s.refuses("CMS: width/depth is not equal", "CMS.MERGE", "C", 1, "prob")
    s.refuses("CMS: Cannot parse number", "CMS.INCRBY", "A", "x", "some")
    s.refuses("CMS: invalid width", "CMS.INITBYDIM", "q", 0, 5)
    same(cms.query("C", "foo", "bar", "baz"), [9, 9, 11])

    # Items that can be deleted.
    cf = r.cf()
    assert cf.create("cuckoo", 1000)
    assert cf.create("cuckoo_e", 1000, expansion=1, bucket_size=4, max_iterations=10)
    same((cf.add("cuckoo", "x"), cf.addnx("cuckoo", "x"), cf.addnx("cuckoo", "y")), (1, 0, 1))
    same(cf.add("cuckoo", "x"), 1)
    same((cf.count("cuckoo", "x"), cf.count("cuckoo", "no"), cf.count("never", "x")), (2, 0, 0))
    same((cf.exists("cuckoo", "x"), cf.exists("cuckoo", "no"), cf.exists("never", "x")), (1, 0, 0))
    same((cf.delete("cuckoo", "x"), cf.delete("cuckoo", "x"), cf.delete("cuckoo", "x")), (1, 1, 0))
    same(cf.exists("cuckoo", "x"), 0)
    same(cf.insert("captest2", ["foo"], capacity=1000), [1])
    same(cf.insertnx("captest2", ["foo", "bar"], capacity=1000), [0, 1])
    info = cf.info("cuckoo")
    same((info.deletedNum, info.bucketSize, info.filterNum), (2, 2, 1))
    same(cf.info("cuckoo_e").bucketSize, 4)
    s.refuses("Not found", "CF.DEL", "never", "x")
    s.refuses("Not found", "CF.INSERT", "never", "NOCREATE", "ITEMS", "x")

    # One family's commands refuse another's filters; EB.* takes all.
    for command in ("BF.ADD", "CF.ADD"):
        s.refuses("WRONGTYPE", command, "dim", "x")
    s.refuses("WRONGTYPE", "CMS.QUERY", "bloom", "x")
    same(s("EB.COUNT", "dim", "foo"), [10])

    # What INFO repeats survives saving, both ways of it.
    before = [s("CMS.INFO", "C"), s("CF.INFO", "cuckoo"), s("BF.INFO", "bloom_e")]
    s("DEBUG", "RELOAD")
    same([s("CMS.INFO", "C"), s("CF.INFO", "cuckoo"), s("BF.INFO", "bloom_e")], before)
    s.alive()

    # Items that expire, over known commands.  TIME is for the test: commands take the server's clock.
    s("BF.RESERVE", "fresh", "0.001", "10000", "WINDOW", "600")
    same(s("BF.MADD", "fresh", "a", "b", "a"), [1, 1, 0])
    same(s("BF.MEXISTS", "fresh", "a", "c"), [1, 0])
    now = int(s("TIME")[0]) * 1000
    same(s("EB.EXISTS", "fresh", "a", "TIME", now + 590_000), 1)
    same(s("EB.EXISTS", "fresh", "a", "TIME", now + 1_300_000), 0)
    same(s("BF.INFO", "fresh", "WINDOW"), [600])
    assert r.bf().info("fresh").capacity == 10_000
    s.refuses("neither expands", "BF.RESERVE", "q", "0.001", "10000", "WINDOW", "600", "EXPANSION", "2")
    s.refuses("bad window", "BF.RESERVE", "q", "0.001", "10000", "WINDOW", "soon")

# A configuration makes every filter that a client makes forget.
with Server("compat-window", module=["name", "bf", "default-window", "600", "default-capacity", "5000"]) as s:
    r = redis.Redis("127.0.0.1", s.port)
    same(r.bf().add("x", "a"), 1)
    same(s("BF.INFO", "x", "WINDOW"), [600])
    r.bf().create("y", 0.001, 1000, expansion=2)
    same(s("BF.INFO", "y", "WINDOW"), [600])
    same(s("CONFIG", "SET", "bf.default-window", "0"), b"OK")
    same(r.bf().add("z", "a"), 1)
    same(s("BF.INFO", "z", "CAPACITY"), [5000])
    same(r.module_list()[0][b"name"] if isinstance(r.module_list()[0], dict) else r.module_list()[0][1], b"bf")
