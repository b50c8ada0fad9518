#!/usr/bin/python3
"""sqlite.py EXTENSION [ROWS]: what the SQLite extension costs, beside count() in the same rounds; times of the processor.
`make bench-sql` runs it."""

import sqlite3, statistics, sys, time

ROWS = int(float(sys.argv[2])) if len(sys.argv) > 2 else 2_000_000
ROUNDS = 5

db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("create table t as with recursive c(i) as (select 1 union all select i + 1 from c where i < ?) "
           "select i * 7919 % 1000003 as k, 'user-' || (i * 7919 % 1000003) as w from c", (ROWS,))
f = db.execute("select evb_agg(k, 'bloom:distinct=1e6,fpr=0.01') from t").fetchone()[0]
db.execute("select evb_open('f', ?)", (f,))
ways = [
    ("count(k)", "select count(k) from t", ()),
    ("evb_agg(k)", "select length(evb_agg(k, 'bloom:distinct=1e6,fpr=0.01')) from t", ()),
    ("count(w)", "select count(w) from t", ()),
    ("evb_agg(w)", "select length(evb_agg(w, 'bloom:distinct=1e6,fpr=0.01')) from t", ()),
    ("evb_has(?, k)", "select sum(evb_has(?, k)) from t", (f,)),
    ("evb_has('f', k)", "select sum(evb_has('f', k)) from t", ()),
    ("sum(k)", "select sum(k) from t", ()),
    ("count(distinct k)", "select count(distinct k) from t", ()),
]
spent = {name: [] for name, _, _ in ways}
for _ in range(ROUNDS):
    for name, sql, args in ways:
        start = time.process_time()
        db.execute(sql, args).fetchall()
        spent[name].append((time.process_time() - start) / ROWS * 1e9)
for name, _, _ in ways:
    print(f"{name:18} {min(spent[name]):6.1f} ns a row")
for over, under in (("evb_agg(k)", "count(k)"), ("evb_agg(w)", "count(w)"), ("count(distinct k)", "count(k)")):
    ratios = sorted(a / b for a, b in zip(spent[over], spent[under]))
    print(f"{over} / {under}: {statistics.median(ratios):.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f})")
for name in ("evb_has(?, k)", "evb_has('f', k)"):
    print(f"{name}, beyond sum(k): {min(spent[name]) - min(spent['sum(k)']):.0f} ns a row")
