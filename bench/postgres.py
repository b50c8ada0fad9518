#!/usr/bin/python3
"""postgres.py LIBRARY EXTENSION-FOLDER [ROWS]: what the PostgreSQL extension costs, beside count() in the same rounds.

Two servers of its own are made and removed.  Times are of the processor, of the backend that works; the speed of workers is
of the clock.  `make bench-sql` runs it."""

import os, statistics, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "postgres"))
import cluster

LIBRARY, EXTENSION = sys.argv[1:3]
ROWS = int(float(sys.argv[3])) if len(sys.argv) > 3 else 10_000_000
ROUNDS = 5
PARALLEL = "set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set max_parallel_workers_per_gather = "


def turns(session, queries, rounds=ROUNDS):
    """The seconds of the processor and of the clock that each query takes, in rounds in which they take turns."""
    cpu, wall = ([[] for _ in queries] for _ in range(2))
    for query in queries:
        session.sql(query)  # the first time PostgreSQL marks rows and compiles
    for _ in range(rounds):
        for i, query in enumerate(queries):
            clock, before = time.monotonic(), session.cpu()
            answer = session.sql(query)
            if "ERROR" in answer:
                raise SystemExit(f"{query}: {answer}")
            cpu[i].append(session.cpu() - before)
            wall[i].append(time.monotonic() - clock)
    return cpu, wall


def ratio(over, under):
    """The median of the ratios of rounds, with their extremes."""
    ratios = sorted(a / b for a, b in zip(over, under))
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f})"


def say(what, *words):
    print(f"{what:46}", *words, flush=True)


def aggregates(session):
    for spec in ("bloom:distinct=1e6,fpr=0.01", "bloom:distinct=1e7,fpr=0.01", "bloom:distinct=1e7,fpr=0.01,layout=line"):
        cpu, _ = turns(session, ["select count(k) from big", f"select length(evb_agg(k, '{spec}')::bytea) from big"])
        say(f"evb_agg(bigint), {spec}", ratio(cpu[1], cpu[0]), "times the CPU of count(k),",
            f"{(min(cpu[1]) - min(cpu[0])) / ROWS * 1e9:.0f} ns a row more")
    cpu, _ = turns(session, ["select count(t) from words", "select length(evb_agg(t, 'bloom:distinct=1e6,fpr=0.01')::bytea) from words",
                             "select count(distinct t) from words"], 3)
    say("evb_agg(text), bloom:distinct=1e6,fpr=0.01", ratio(cpu[1], cpu[0]), "times the CPU of count(t);",
        "count(distinct t):", ratio(cpu[2], cpu[0]))


def workers(session, other):
    """Beside it, what two processes gain here that share nothing: two sessions that each run the whole query at the same time."""
    filter, count = "select md5(evb_agg(k, 'bloom:distinct=1e6,fpr=0.01')::bytea) from big", "select count(k) from big"
    cpu, wall, made = [[], []], {name: [] for name in ("none", "two", "side", "count none", "count two")}, set()

    def clocked(name, query, n):
        session.sql(PARALLEL + str(n))
        clock = time.monotonic()
        answer = session.sql(query)
        wall[name].append(time.monotonic() - clock)
        return answer

    other.sql(PARALLEL + "0")
    for _ in range(ROUNDS):
        for i, name in enumerate(("none", "two")):
            before = session.cpu()
            made.add(clocked(name, filter, 2 * i))
            cpu[i].append(session.cpu() - before)
            clocked("count " + name, count, 2 * i)
        clock = time.monotonic()
        other.start(filter)
        session.sql(PARALLEL + "0")
        session.sql(filter)
        other.result()
        wall["side"].append((time.monotonic() - clock) / 2)
    if len(made) != 1:
        raise SystemExit("workers made other bytes")
    say("two workers, same bytes: speed by the clock", ratio(wall["none"], wall["two"]), "times;",
        "count(k):", ratio(wall["count none"], wall["count two"]))
    say("  two sessions side by side, for comparison", ratio(wall["none"], wall["side"]), "times")
    say("  CPU of the leader, which scans its share too", f"{min(cpu[1]) / min(cpu[0]):.2f} of the CPU without workers")
    session.sql("set max_parallel_workers_per_gather = 0")


def cancelling(session, other):
    """From pg_cancel_backend to the answer, while an aggregate of 1 GB is at work."""
    waits = []
    for _ in range(3):
        before = session.cpu()
        session.start("select length(evb_agg(i, 'bloom:memory=1000M')::bytea) from generate_series(1, 1000000000000::bigint) i")
        while session.cpu() < before + 1:  # it has begun to fill the filter
            time.sleep(0.05)
        clock = time.monotonic()
        other.sql(f"select pg_cancel_backend({session.pid})")
        if "canceling" not in session.result():
            raise SystemExit("it was not cancelled")
        waits.append(time.monotonic() - clock)
    say("cancelling an aggregate of 1 GB", f"{max(waits):.2f} s, the longest of {len(waits)}")


def questions(session):
    size = session.sql("create table stored as select evb_agg(k, 'bloom:distinct=1e7,fpr=0.01') as f from big; "
                       "select length(f::bytea) from stored")
    queries = ["select count(k) from part", "select count(*) from part where evb_has((select f from stored), k)",
               "select count(*) from stored, part where evb_has(f, k)"]
    cpu, _ = turns(session, queries)
    for i, form in ((1, "a sub-select"), (2, "a joined column")):
        say(f"evb_has of a stored filter of {int(size) / 1e6:.0f} MB, {form}", f"{(min(cpu[i]) - min(cpu[0])) / (ROWS / 10) * 1e9:.0f} ns a row")


def loopback():
    """Bytes that this machine has sent to itself over TCP: the servers', if nobody else does."""
    with open("/proc/net/dev") as lines:
        return next(int(line.split(":")[1].split()[0]) for line in lines if line.strip().startswith("lo:"))


def bloomjoin(session, there):
    session.sql(f"""create extension postgres_fdw;
        create server remote foreign data wrapper postgres_fdw
            options (host '127.0.0.1', port '{there.port}', dbname 'postgres', extensions 'everbloom', fetch_size '10000');
        create user mapping for current_user server remote options (user 'postgres');
        import foreign schema public limit to (calls) from server remote into public;
        create table customers as select (i * 200)::bigint as k from generate_series(1, {ROWS // 200}) i; analyze customers;
        analyze calls""")
    fpr = 0.001
    query = session.sql(f"select evb_bloomjoin('customers', 'k', 'calls', 'k', 'bloom:distinct={ROWS // 200},fpr={fpr}')")
    plain = "select r.*, l.* from calls r join customers l on l.k = r.k"
    rows = {}
    for name, text in (("bloomjoin", query), ("plain", plain)):
        clock, sent = time.monotonic(), loopback()
        plan = session.sql("explain (analyze, verbose, costs off, timing off, summary off) " + text).split("\n")
        seconds, sent = time.monotonic() - clock, loopback() - sent
        at = next(i for i, line in enumerate(plan) if "Foreign Scan" in line)
        rows[name] = int(plan[at].split("actual rows=")[1].split(" ")[0])
        say(f"join of two sites, {name}", f"{rows[name]} rows and {sent / 1e6:.1f} MB shipped, {seconds:.1f} s by the clock")
    matches = ROWS // 200
    say("  of matches + fpr * rest", f"{rows['bloomjoin'] / (matches + fpr * (ROWS - matches)):.3f} times;",
        f"{rows['plain'] / rows['bloomjoin']:.0f} times fewer rows than the plain join")


def main():
    installation = cluster.Installation(LIBRARY, EXTENSION)
    servers = []
    try:
        for _ in range(2):
            servers.append(cluster.Server(installation, {"shared_buffers": "1GB", "max_wal_size": "4GB", "autovacuum": "off"}))
            servers[-1].sql("create extension everbloom")
        here, there = servers
        here.sql(f"""create table big as select (i * 7919::bigint) % 1000003 as k from generate_series(1, {ROWS}) i;
            create table words as select 'user-' || (i * 7919::bigint) % 1000003 as t from generate_series(1, {ROWS // 5}) i;
            create table part as select k from big limit {ROWS // 10}; vacuum analyze""")
        there.sql(f"create table calls as select i::bigint as k, 'call ' || i as what from generate_series(1, {ROWS}) i; vacuum analyze")
        session = here.session()
        session.sql("set max_parallel_workers_per_gather = 0")
        aggregates(session)
        other = here.session()
        workers(session, other)
        questions(session)
        bloomjoin(session, there)
        cancelling(session, other)
        other.close()
        session.close()
    finally:
        for server in servers:
            server.stop()
        installation.remove()


main()
