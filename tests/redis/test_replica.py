"""A replica has the bytes of its primary, after many random operations on every kind, and forgets as it does."""

import os

import redis
from harness import Server, same, spec_info, until
from kinds import Operations, specs

OPERATIONS = int(float(os.environ.get("EVERBLOOM_OPERATIONS", "20000")))
WINDOW = int(os.environ.get("EVERBLOOM_WINDOW", "10000"))  # milliseconds
SEED = 20261118


def linked(replica):
    return replica.r.info("replication")["master_link_status"] == "up"


def in_step(primary, replica):
    return (linked(replica) and
            primary.r.info("replication")["master_repl_offset"] == replica.r.info("replication")["slave_repl_offset"])


def compare(primary, replica):
    until("the replica to catch up", lambda: in_step(primary, replica))
    keys = sorted(primary("KEYS", "*"))
    same(sorted(replica("KEYS", "*")), keys)
    for key in keys:
        assert primary("EB.SAVE", key) == replica("EB.SAVE", key), f"{key} differs"
        same(replica("DEBUG", "DIGEST-VALUE", key), primary("DEBUG", "DIGEST-VALUE", key))
    return len(keys)


with Server("primary") as primary, Server("replica", "--replica-read-only", "yes") as replica:
    # The first half comes in the first synchronisation, the rest in the stream.
    made = specs("16K")
    for key, spec in made.items():
        same(primary("EB.RESERVE", key, spec), b"OK")
    primary("CMS.INITBYDIM", "cms", 300, 4)
    primary("CF.RESERVE", "cf", 300)
    primary("TOPK.RESERVE", "topk", 20)
    primary("BF.RESERVE", "fresh", 0.01, 1000, "WINDOW", 1)
    assert {"top", "decay", "window", "grows"} <= set(made), made
    operations = Operations(made, SEED)
    refused = 0

    def run(count):
        global refused
        for at in range(0, count, 250):
            pipe = primary.r.pipeline(transaction=operations.random.random() < 0.1)
            for _ in range(250):
                pipe.execute_command(*operations.next())
            pipe.execute_command("BF.ADD", "bf", at)
            pipe.execute_command("CMS.INCRBY", "cms", at % 1000, 3, "x", 1)
            pipe.execute_command("CMS.INCRBY", "decay", at % 1000, 3)  # known commands on a filter with a clock
            pipe.execute_command("TOPK.INCRBY", "topk", at % 1000, 3, at % 7, 1)
            pipe.execute_command("BF.MADD", "fresh", at % 1000, at % 7)
            pipe.execute_command("CF.INSERTNX", "cf", "ITEMS", at % 700, at % 300)
            pipe.execute_command("CF.DEL", "cf", at % 500)
            refused += sum(isinstance(x, redis.ResponseError) for x in pipe.execute(raise_on_error=False))

    run(OPERATIONS // 2)
    replica("REPLICAOF", "127.0.0.1", primary.port)
    until("the first synchronisation", lambda: linked(replica))
    primary("BF.RESERVE", "crowded", 0.01, 40, "NONSCALING")
    answers = primary("BF.MADD", "crowded", *range(100))  # those that have room are in, on both
    assert answers[0] == 1 and isinstance(answers[-1], redis.ResponseError), answers
    same(primary("BF.CARD", "crowded"), sum(x == 1 for x in answers))
    run(OPERATIONS // 2)
    n = compare(primary, replica)
    for key in made:  # every kind took its share; copies that are merged double it, until it is too large to be known
        adds = spec_info(primary, key)["adds"]
        assert adds is None or adds > OPERATIONS / len(made) / 4, (key, primary("EB.INFO", key))
    assert n > 2 * len(made) - 5 and refused < OPERATIONS // 3, (n, refused)

    # A window forgets after its time, on both, and no earlier.
    for server in (primary, replica):
        server("CONFIG", "SET", "appendonly", "no")
    primary("EB.RESERVE", "soon", f"window:window={WINDOW},unit=time,memory=64K")

    def now(server):
        seconds, micros = server("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    early = now(primary)
    same(primary("EB.ADD", "soon", "x"), 1)
    late = now(primary)
    until("the replica to catch up", lambda: in_step(primary, replica))
    forgotten = set()

    def watch():
        for server in (primary, replica):
            seen = server("EB.EXISTS", "soon", "x")
            if now(server) < early + WINDOW:
                same((server.name, seen), (server.name, 1))
            if not seen:
                forgotten.add(server.name)
        return len(forgotten) == 2

    until("the window to pass", watch)
    end = now(primary)
    assert early + WINDOW < end < late + WINDOW * 15 // 14 + 2000, (early, end)  # at most a 14th later, and the time of asking
    for server in (primary, replica):
        info = spec_info(server, "soon")
        assert float(info["window"]) >= WINDOW and b"window=%d" % WINDOW in info["spec"], info
    same(primary("EB.ADD", "soon", "x"), 1)
    compare(primary, replica)
    primary.alive()
    replica.alive()
