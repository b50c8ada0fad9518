#!/usr/bin/python3
"""demo.py LIBRARY EXTENSION-FOLDER: starts a server of its own with the extension, runs an example, stops it."""

import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import cluster

STEPS = """\
create extension everbloom
create table log as select '/page/' || (i::bigint * i % 9973) as url from generate_series(1, 200000) i
-- a filter of a column, made by parallel workers: a value like any other
create table seen as select evb_agg(url, 'bloom:distinct=10000,fpr=0.001') as f from log
select evb_has(f, '/page/4') as page_4, evb_has(f, '/page/none') as none, length(f::bytea) as bytes from seen
-- how often does a page occur?  Never too low
select evb_count(evb_agg(url, 'spectral:memory=256K,update=plain'), '/page/4') from log
-- each URL once, in one pass and fixed memory
select count(*) as new_urls from log where not evb_seen(url, 'lru:memory=1M')"""

installation = cluster.Installation(*sys.argv[1:3])
server = cluster.Server(installation)
try:
    for line in STEPS.split("\n"):
        print(line if line.startswith("--") else f"postgres=# {line};", flush=True)
        if not line.startswith("--"):
            done = server.psql(line, "-P", "format=aligned", "-P", "tuples_only=off", "-P", "footer=off")
            print((done.stdout or done.stderr).decode(), end="")
            if done.returncode != 0:
                sys.exit(1)
finally:
    server.stop()
    installation.remove()
