"""matrix.py BUILD FOLDER - a filter means the same in every host: whoever writes it, the bytes are equal, and whoever reads it
answers alike.  Hosts: C, the command, Python with keys as lists and columns, SQLite, DuckDB if it is there, and PostgreSQL and Redis
if there are servers."""

import atexit
import base64
import os
import shutil
import sqlite3
import subprocess
import sys

import everbloom

build, folder = (os.path.abspath(path) for path in sys.argv[1:3])
here = os.path.dirname(os.path.abspath(__file__))
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
command, program = build + "/everbloom", build + "/tests/matrix/matrix"
numbers = [i * 37 - 5000 for i in range(1000)] + [2**63 - 1, -(2**63)]
strange = [i * 41 + 10**12 for i in range(1000)]
words = ["word", "caf\u00e9", "with space", "\u4e2d\u6587"]


def run(*arguments, stdin=b"", fine=(0,)):
    done = subprocess.run(arguments, input=stdin, stdout=subprocess.PIPE)
    if done.returncode not in fine:
        raise SystemExit(f"{arguments} ended with {done.returncode}")
    return done.stdout


def lines(keys):
    return b"".join(str(key).encode() + b"\n" for key in keys)


def python_writers(keys, kind):
    """The same keys in every form that this kind of filter takes."""
    if kind != "bytes":
        yield "list of str", [str(key) for key in keys]
        yield "list of str and int", keys
    yield "list of bytes", [str(key).encode() for key in keys]
    try:
        import numpy as np
    except ImportError:
        return
    if kind != "bytes" and all(isinstance(key, int) for key in keys):
        yield "numpy int64", np.array(keys, dtype=np.int64)
    yield "numpy S", np.array([str(key).encode() for key in keys])


def sql(query, keys, kind, value):
    """A query of SQLite over t(k), which holds the keys as the column has them: numbers, text or blobs."""
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(build + "/sqlite/everbloom")
    db.execute("create table t(k)")
    db.executemany("insert into t values(?)", [(str(key).encode() if kind == "bytes" else key,) for key in keys])
    rows = db.execute(query, (value,)).fetchall()
    db.close()
    return rows


def duck(query, keys, kind, value):
    """A query of DuckDB over t(i, k), as above."""
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    db.execute(f"load '{build}/duckdb/everbloom.duckdb_extension'")
    column = {"i64": "bigint", "bytes": "blob", "text": "varchar"}[kind]
    rows = [key if kind == "i64" else str(key).encode() if kind == "bytes" else str(key) for key in keys]
    db.execute(f"create table t as select unnest(range({len(rows)})) as i, unnest(?::{column}[]) as k", [rows])
    return db.execute(query, [value]).fetchall()


def postgres_keys(keys, kind):
    """A table t(i, k) with the keys as the column has them."""
    column = {"i64": "bigint", "bytes": "bytea", "text": "text"}[kind]
    rows = "".join(f"{i}\t" + ("\\\\x" + str(key).encode().hex() if kind == "bytes" else str(key)) + "\n" for i, key in enumerate(keys))
    return f"create temp table t (i int, k {column}); copy t from stdin;\n{rows}\\.\n"


def test(name, spec, kind, server):
    keys = numbers + (words if kind == "text" else [])
    probes = keys[::2] + strange
    made = {}
    with open("lines", "wb") as file:
        file.write(lines(keys))
    with open("probes", "wb") as file:
        file.write(lines(probes))
    run(command, "add", "--filter", spec, "-o", "command.eb", "--force", "lines")
    run(program, "write", spec, "c.eb", stdin=lines(keys))
    for host in ("command", "c"):
        with open(host + ".eb", "rb") as file:
            made[host] = file.read()
    for form, column in python_writers(keys, kind):
        f = everbloom.Filter(spec)
        f.update(column)
        made["Python, " + form] = f.dumps()
    one = everbloom.Filter(spec)
    for key in keys:
        one.add(str(key).encode() if kind == "bytes" else key)
    made["Python, one by one"] = one.dumps()
    made["SQLite"] = sql("select evb_agg(k, ?) from t", keys, kind, spec)[0][0]
    if duckdb:
        made["DuckDB"] = duck("select evb_stream_agg(k, ? order by i) from t", keys, kind, spec)[0][0]
    if postgres:
        made["PostgreSQL"] = base64.b64decode(postgres.sql(postgres_keys(keys, kind) + f"select evb_stream_agg(k, '{spec}' order by i) from t"))
    if server:
        server("DEL", "f")
        server("EB.RESERVE", "f", spec)
        server("EB.MADD", "f", *[str(key).encode() for key in keys])
        run(command, "copy", "--force", f"redis://127.0.0.1:{server.port}/f", "redis.eb")
        with open("redis.eb", "rb") as file:
            made["Redis"] = file.read()
    for host, snapshot in made.items():
        if snapshot != made["c"]:
            raise SystemExit(f"matrix: {name}: {host} and C make different snapshots")

    wanted = run(program, "read", "c.eb", stdin=lines(probes)).splitlines()
    assert len(keys[::2]) <= len(wanted) <= len(keys[::2]) + 20, len(wanted)
    answers = {"command": run(command, "test", "c.eb", "probes", fine=(0, 1)).splitlines()}
    found = sql("select evb_has(?, k) from t order by rowid", probes, kind, made["c"])
    answers["SQLite"] = [str(key).encode() for key, (seen,) in zip(probes, found) if seen]
    if duckdb:
        found = duck("select i from t where evb_has(?::blob, k) order by i", probes, kind, made["c"])
        answers["DuckDB"] = [str(probes[i]).encode() for (i,) in found]
    if postgres:
        found = postgres.sql(postgres_keys(probes, kind) + f"select i from t where evb_has('{base64.b64encode(made['c']).decode()}', k) order by i")
        answers["PostgreSQL"] = [str(probes[int(i)]).encode() for i in found.split()]
    view = everbloom.view("c.eb")
    for form, column in python_writers(probes, kind):
        answers["Python, " + form] = [str(key).encode() for key, seen in zip(probes, view.seen(column)) if seen]
    if server:
        run(command, "copy", "--force", "c.eb", f"redis://127.0.0.1:{server.port}/g")
        there = server("EB.MEXISTS", "g", *[str(key).encode() for key in probes])
        answers["Redis"] = [str(key).encode() for key, seen in zip(probes, there) if seen]
    for host, found in answers.items():
        if found != wanted:
            raise SystemExit(f"matrix: {name}: {host} finds {len(found)} of {len(probes)} keys, C finds {len(wanted)}")
    print(f"matrix: {name}: {len(made)} writers make the same bytes, {len(answers) + 1} readers give the same answers")


def all_tests(server):
    for kind in ("text", "i64", "bytes"):
        option = f",keys={kind}"
        test(f"bloom, keys={kind}", "bloom:memory=64K,k=7,seed=5" + option, kind, server)
        test(f"spectral, keys={kind}", "spectral:memory=64K,seed=5" + option, kind, server)


try:
    os.environ["BUILD"] = build
    sys.path.insert(0, os.path.join(here, "..", "redis"))
    import harness
except ImportError as e:
    harness = None
    print(f"matrix: SKIPPED Redis: {e}")
try:
    sys.path.append(os.path.join(here, "..", "..", "build", "clients", "duckdb"))
    import duckdb
except ImportError as e:
    duckdb = None
    print(f"matrix: SKIPPED DuckDB: {e}")
postgres = None
if os.path.exists(build + "/postgres/everbloom.so"):
    sys.path.insert(0, os.path.join(here, "..", "postgres"))
    import cluster
    installation = cluster.Installation(build + "/postgres/everbloom.so", os.path.join(here, "..", "..", "postgres"))
    atexit.register(installation.remove)
    postgres = cluster.Server(installation)
    atexit.register(postgres.stop)
    postgres.sql("create extension everbloom")
else:
    print("matrix: SKIPPED PostgreSQL: its extension is not built")
if harness and shutil.which("redis-server"):
    with harness.Server("matrix") as server:
        all_tests(server)
else:
    print("matrix: without Redis")
    all_tests(None)
