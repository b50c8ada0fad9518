"""RDB, AOF and its rewriting; kill -9 and restart lose nothing that the server promised to keep."""

from harness import Server, same, until
from kinds import Operations, specs

SEED = 7


def fill(server, operations, count=1500):
    pipe = server.r.pipeline(transaction=False)
    for _ in range(count):
        pipe.execute_command(*operations.next())
    pipe.execute(raise_on_error=False)



def digests(server):
    return {key: server("DEBUG", "DIGEST-VALUE", key) for key in sorted(server("KEYS", "*"))}


def prepare(server):
    made = specs("16K")
    for key, spec in made.items():
        same(server("EB.RESERVE", key, spec), b"OK")
    server("CMS.INITBYDIM", "cms", 300, 4)
    server("CMS.INCRBY", "cms", "x", 7)
    # A snapshot of which half has arrived, and one that has several chunks in every file.
    half = server("EB.SAVE", "lru")
    server("EB.LOAD", "half", 0, half[:5000])
    server("EB.RESERVE", "large", "bloom:memory=3M")
    return Operations(made, SEED), half


def rewritten(server):
    info = server.r.info("persistence")
    assert info["aof_last_bgrewrite_status"] == "ok"
    return not info["aof_rewrite_in_progress"] and not info["aof_rewrite_scheduled"]


def half_is(server, half):
    server.refuses("being loaded", "EB.ADD", "half", "x")
    same(server("EB.LOAD", "half", 5000, half[5000:]), b"OK")
    same(server("EB.SAVE", "half"), half)


for sync, preamble in (("always", "yes"), ("everysec", "no")):
    with Server("aof-" + sync, "--appendonly", "yes", "--appendfsync", sync, "--aof-use-rdb-preamble", preamble) as s:
        operations, half = prepare(s)
        fill(s, operations)
        s("BGREWRITEAOF")
        until("the rewriting", lambda: rewritten(s))
        fill(s, operations)
        before = digests(s)
        s.restart()  # kill -9: what was acknowledged was written
        after = digests(s)
        same(after, before)
        same(s("CMS.INFO", "cms")[5], 7)
        half_is(s, half)

with Server("rdb") as s:
    operations, half = prepare(s)
    fill(s, operations)
    s("SAVE")
    before = digests(s)
    fill(s, operations, 300)
    s.restart()
    same(digests(s), before)
    # BGSAVE while items are added: the file has the moment at which it began.
    before = digests(s)
    s("BGSAVE")
    fill(s, operations, 300)
    until("the saving", lambda: not s.r.info("persistence")["rdb_bgsave_in_progress"])
    same(s.r.info("persistence")["rdb_last_bgsave_status"], "ok")
    s.restart()
    same(digests(s), before)
    half_is(s, half)
