#!/usr/bin/python3
"""check.py EXTENSION EVERBLOOM: the DuckDB extension in DuckDB for Python, against exact answers of the same database."""

import random, subprocess, sys, tempfile, unittest

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import duckdb, damage, documented

EXTENSION, EVERBLOOM = sys.argv[1:3]


def connect(threads=2):
    db = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": threads})
    db.execute(f"load '{EXTENSION}'")
    return lambda sql, *args: db.execute(sql, *args).fetchall()


class Extension(unittest.TestCase):
    def setUp(self):
        self.sql = connect()

    def refused(self, sql, words):
        with self.assertRaises(duckdb.Error) as caught:
            self.sql(sql)
        self.assertIn(words, str(caught.exception))

    def test_nothing_is_missed_and_no_count_is_too_low(self):
        rng = random.Random(20)
        for i in range(20):
            kind = ["text", "bigint", "blob"][i % 3]
            rows, distinct, skew = rng.randrange(500, 30000), rng.randrange(50, 3000), rng.uniform(1.3, 3)
            number = f"(floor({distinct} * pow(random(), {skew})))::bigint"
            key = {"text": f"'a user with the name ü' || {number}", "bigint": f"{number} * 7919 - 5000", "blob": f"md5(({number})::text)::blob"}[kind]
            keys = "keys=bytes" if kind == "blob" else "keys=text"
            self.sql(f"select setseed({i / 20})")
            self.sql(f"create or replace table t as select {key} as k from range({rows})")
            self.sql("insert into t values (null)")
            self.sql(f"create or replace table f as select evb_agg(k, 'bloom:distinct=3000,fpr=0.01,{keys}') as b, "
                     f"evb_agg(k, 'spectral:memory=32K,update=plain,{keys}') as s from t")
            got = self.sql("select (select count(*) from t, f where k is not null and not evb_has(b, k)), "
                           "(select count(*) from t, f where evb_has(b, k)), "
                           "(select count(*) from (select k, count(*) as c from t where k is not null group by k), f where evb_count(s, k) < c)")
            self.assertEqual([(0, rows, 0)], got, kind)

    def test_threads_make_the_same_bytes(self):
        for spec in ("bloom:distinct=40000,fpr=0.01", "spectral:memory=512K,update=plain", "dyadic:bits=20,memory=256K"):
            made = set()
            for threads in (1, 4):
                sql = connect(threads)
                sql("create table big as select (i * 7919) % 40000 as k from range(1000000) t(i)")
                made.add(sql(f"select md5(evb_agg(k, '{spec}')) from big")[0][0])
            self.assertEqual(1, len(made), spec)

    def test_groups_and_order(self):
        """The last hundred keys of each group are in a filter that forgets; the order is the query's, not the table's."""
        self.sql("create table log as select 999999 - i as k, i % 3 as g from range(1000000) t(i)")
        got = self.sql("with f as (select g, evb_stream_agg(k, 'window:window=100,memory=64K' order by k) as f from log group by g), "
                       "r as (select g, k, row_number() over (partition by g order by k desc) as n from log) "
                       "select g, count(*) filter (evb_has(f, k) and n <= 100), count(*) filter (evb_has(f, k) and n > 1000) < 1000 "
                       "from r join f using (g) group by g order by g")
        self.assertEqual([(g, 100, True) for g in range(3)], got)
        self.refused("select evb_agg(k, 'lru:memory=64K') from log", "ORDER BY")

    def test_top(self):
        self.sql("create table f as select evb_stream_agg('key number ' || i, 'top:memory=64K' order by i) as f "
                 "from range(1, 201) t(i), range(1, 202 - i) u(j)")
        self.assertEqual([("key number 1", 200, 200), ("key number 2", 199, 199), ("key number 3", 198, 198)],
                         self.sql("select key, count, lower from (select unnest(evb_top(f, 3), recursive := true) from f)"))
        self.assertEqual([(0, 200), (1, 200), (2, None)],
                         self.sql("select i, len(evb_top(case when i < 2 then f end, 1000)) from f, range(3) t(i) order by i"))
        self.refused("select evb_top(f, 0) from f", "1 or more")

    def test_several_filters_in_one_column(self):
        self.sql("create table f as select i % 20 as g, evb_agg(i, 'bloom:memory=16K') as f from range(2000) t(i) group by g")
        self.assertEqual([(2000,)], self.sql("select count(*) from f, range(2000) t(i) where i % 20 = g and evb_has(f, i)"))
        self.assertLess(self.sql("select count(*) from f, range(2000) t(i) where i % 20 <> g and evb_has(f, i)")[0][0], 40)

    def test_the_command_reads_it(self):
        made = self.sql("select evb_agg('line ' || i, 'bloom:distinct=1000,fpr=0.001') from range(1000) t(i)")[0][0]
        with tempfile.NamedTemporaryFile(suffix=".eb") as file:
            file.write(made)
            file.flush()
            out = subprocess.run([EVERBLOOM, "test", file.name], input="line 7\nline x\n", capture_output=True, text=True)
        self.assertEqual("line 7\n", out.stdout, out.stderr)

    def test_mistakes(self):
        self.refused("select evb_agg(1, 'blom:memory=1K')", "bloom")
        self.refused("select evb_agg(1, null)", "the spec is NULL")
        self.refused("select evb_has(evb_agg(1, 'bloom:memory=1K'), 'x'::blob)", "keys are binary data")
        self.refused("select evb_count(evb_agg(1, 'bloom:memory=1K'), 1)", "count")
        self.refused("select evb_agg(now(), 'bloom:memory=1K')", "type casts")
        self.assertEqual([(None, None, None)], self.sql("select evb_has(null, 5), evb_has(evb_agg(5, 'bloom:memory=4K'), null), "
                                                        "(select evb_agg(i, 'bloom:memory=4K') from range(0) t(i))"))

    def test_documentation(self):
        """docs/SQL.md: its examples run, and it names every function."""
        self.sql("create table log as select '/page/' || i % 7 as url, i as ms from range(100) t(i)")
        self.sql("create table today as select '/page/' || i as url from range(5, 9) t(i)")
        made, fresh, top = (self.sql(sql) for sql in documented.examples("DuckDB"))
        self.assertEqual({("/page/7",), ("/page/8",)}, set(fresh))
        self.assertEqual((7, ("/page/0", 15)), (len(top), top[0][:2]))
        there_are = {name for (name,) in self.sql("select distinct function_name from duckdb_functions() where function_name like 'evb@_%' escape '@'")}
        self.assertEqual(there_are, documented.functions("DuckDB"))

    def test_damaged_values(self):
        rng = random.Random(9)
        good = [self.sql(f"select evb_stream_agg(i, '{spec}' order by i) from range(100) t(i)")[0][0]
                for spec in damage.SPECS if "time" not in spec]
        heads = {value[:64] for value in good}  # a filter that was loaded before is known by its header
        refused = 0
        for _ in range(1000):
            value, signed = damage.damage(rng, rng.choice(good))
            try:
                self.sql("select evb_has(?::blob, 5)", [value])
            except duckdb.Error:
                refused += 1
                continue
            self.assertTrue(signed or value[:64] in heads, "a value with wrong checksums was taken")
            for question in ("evb_count(?::blob, 5)", "evb_top(?::blob, 10)"):
                try:
                    self.sql("select " + question, [value])
                except duckdb.Error:
                    pass
        self.assertGreater(refused, 400)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=0)
