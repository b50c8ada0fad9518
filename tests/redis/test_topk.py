"""TOPK.* from python3-redis, and EB.TOP, over a skewed stream whose truth is known."""

import collections
import random

import redis
from harness import Server, same

with Server("topk") as s:
    r = redis.Redis("127.0.0.1", s.port, decode_responses=True)
    topk = r.topk()
    assert topk.reserve("top", 3, 10, 3, 0.9)
    same(topk.add("top", "a", "b", "a", "c", "a", "b", "d"), [None] * 7)
    same(topk.query("top", "a", "d"), [1, 0])
    same(topk.list("top"), ["a", "b", "c"])
    same(topk.list("top", withcount=True), ["a", 3, "b", 2, "c", 1])
    same(s("TOPK.COUNT", "top", "a", "none"), [3, 0])
    topk.incrby("top", ["q", "a"], [50, 1])
    same(topk.list("top", withcount=True), ["q", 50, "a", 4, "b", 2])
    info = topk.info("top")
    same((info.k, info.width, info.depth, round(float(info.decay), 3)), (3, 10, 3, 0.9))
    s.refuses("TopK: key already exists", "TOPK.RESERVE", "top", 3)
    s.refuses("TopK: key does not exist", "TOPK.ADD", "none", "x")
    s.refuses("TopK: invalid k", "TOPK.RESERVE", "q", 0)
    s.refuses("TopK: increment must be", "TOPK.INCRBY", "top", "x", 0)
    s.refuses("WRONGTYPE", "BF.ADD", "top", "x")

    # The top 50 of a skewed stream, with counts that are never too low.
    numbers = random.Random(3)
    stream = [f"item {int(numbers.paretovariate(0.8)) % 100_000}" for _ in range(100_000)]
    truth = collections.Counter(stream)
    topk.reserve("many", 50, 2000, 7, 0.925)
    for at in range(0, len(stream), 500):
        topk.add("many", *stream[at : at + 500])
    listed = topk.list("many", withcount=True)
    counts = dict(zip(listed[::2], listed[1::2]))
    same(len(counts), 50)
    assert all(counts[x] >= truth[x] for x in counts)
    least = truth.most_common(50)[-1][1]
    assert sum(truth[x] >= least for x in counts) >= 48, counts
    top = s("EB.TOP", "many", 10)
    same([x.decode() for x in top[1::3]], list(counts)[:10])
    before = s("DEBUG", "DIGEST-VALUE", "many"), s("TOPK.INFO", "top")
    s("DEBUG", "RELOAD")
    same((s("DEBUG", "DIGEST-VALUE", "many"), s("TOPK.INFO", "top")), before)
    s.alive()
