#!/usr/bin/python3
"""check.py EXTENSION COMMAND --rounds N [TEST...]: the SQLite extension against exact answers of the same database.

Guarantees are checked on random tables (kinds of keys, skews, sizes drawn from a fixed seed): what is in a
filter is found, counts are never too low.  Then errors, names, hostile values, and snapshots of the command."""

import json, os, random, re, sqlite3, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import damage, documented

EXTENSION, COMMAND = sys.argv[1:3]
ROUNDS = int(float(sys.argv[4]))

USES = ["select evb_has(?1, 5), evb_count(?1, 5, 200)", "select evb_merge(?1, ?1)", "select evb_add('x', 7, 1, 300)", "select evb_save('x')",
        "select * from evb_estimate(?, 5)", "select * from evb_range(?, 3, 900)", "select * from evb_quantile(?, 0.3)",
        "select * from evb_top(?, 10)", "select * from evb_iceberg(?, 1)", "select evb_info('x')"]


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.enable_load_extension(False)
    return db


def one(db, sql, *args):
    return db.execute(sql, args).fetchone()[0]


def random_table(db, rng):
    """A table t(k) of integers, text or blobs, with repeats; returns keys= of a filter that takes it."""
    db.execute("drop table if exists t")
    db.execute("create table t(k)")
    n, distinct, skew = rng.randrange(200, 5000), rng.randrange(50, 2000), rng.uniform(0.3, 2.0)
    kind = rng.choice(["integer", "text", "blob"])
    rows = []
    for _ in range(n):
        i = int(distinct * rng.random() ** (1 + skew))
        key = {"integer": i * 7919 - 5000, "text": f"user-{i:x} ü", "blob": b"\x00\xff%d" % i}[kind]
        rows.append((key,))
    rows += [(None,)] * 3
    rng.shuffle(rows)
    db.executemany("insert into t values(?)", rows)
    return "keys=bytes" if kind == "blob" else "keys=text"


class Guarantees(unittest.TestCase):
    def setUp(self):
        self.db = connect()

    def tearDown(self):
        self.db.close()

    def test_nothing_is_missed_and_no_count_is_too_low(self):
        rng = random.Random(20)
        for _ in range(20):
            keys = random_table(self.db, rng)
            self.db.execute("drop table if exists f")
            self.db.execute(
                "create table f as select evb_agg(k, ?) as b, evb_agg(k, ?) as s from t",
                (f"bloom:distinct=2000,fpr=0.01,{keys}", f"spectral:memory=16K,{keys}"))
            self.assertEqual(0, one(self.db, "select count(*) from t, f where not evb_has(b, k)"))
            self.assertEqual(0, one(self.db, "select count(*) from (select k, count(*) as c from t where k is not null "
                                             "group by k), f where evb_count(s, k) < c"))
            self.assertEqual(0, one(self.db, "select count(*) from (select k, count(*) as c from t where k is not null "
                                             "group by k), f, evb_estimate(s, k) e where c > e.upper"))

    def test_false_positives_are_as_rare_as_promised(self):
        self.db.execute("create table t as with recursive c(i) as (select 1 union all select i + 1 from c where i < 20000) "
                        "select i as k from c")
        f = one(self.db, "select evb_agg(k, 'bloom:distinct=20000,fpr=0.01') from t")
        wrong = one(self.db, "select sum(evb_has(?, k + 1000000)) from t", f)
        self.assertLess(wrong, 200 + 5 * 200 ** 0.5)
        self.assertGreater(wrong, 200 - 5 * 200 ** 0.5)

    def test_an_integer_is_its_text(self):
        f = one(self.db, "select evb_agg(x, 'bloom:distinct=100,fpr=1e-6') from (select 42 as x union select 'abc')")
        self.assertEqual([(1, 1, 1, 0)], self.db.execute(
            "select evb_has(?1, 42), evb_has(?1, '42'), evb_has(?1, 'abc'), evb_has(?1, 43)", (f,)).fetchall())
        with self.assertRaisesRegex(sqlite3.OperationalError, "evb_has: "):
            one(self.db, "select evb_has(?, x'3432')", f)

    def test_merging_gives_the_filter_of_all(self):
        self.db.execute("create table t as with recursive c(i) as (select 1 union all select i + 1 from c where i < 3000) "
                        "select i as k, i % 3 as g from c")
        spec = "spectral:memory=64K,update=plain"
        whole = one(self.db, "select evb_agg(k, ?) from t", spec)
        parts = one(self.db, "select evb_merge_agg(f) from (select evb_agg(k, ?) as f from t group by g)", spec)
        self.assertEqual(whole, parts)

    def test_rows_are_added_one_after_the_other(self):
        # Weights and times of their own, more rows than a batch, short and long keys of both types that make text.
        rng = random.Random(23)
        rows = []
        for i in range(3000):
            x = rng.randrange(400)
            key = rng.choice((x, -x, str(x), "k" * rng.choice((1, 100, 4000, 5000)) + str(x)))
            rows.append((key, rng.randrange(1, 1000), 10 * i + rng.randrange(10)))
        self.db.execute("create table t(k, weight, time)")
        self.db.executemany("insert into t values(?, ?, ?)", rows)
        for spec in ("aging:period=1000,epochs=16,memory=64K", "decay:halflife=5000,memory=64K", "top:memory=256K"):
            timed = not spec.startswith("top")
            self.db.execute("select evb_open('x', ?)", (spec,))
            for row in rows:
                self.db.execute("select evb_add('x', ?, ?" + (", ?)" if timed else ")"), row if timed else row[:2])
            columns = "k, ?, weight, time" if timed else "k, ?, weight"
            made = one(self.db, f"select evb_agg({columns}) from (select * from t order by rowid)", spec)
            self.assertEqual(made, one(self.db, "select evb_save('x')"), spec)

    def test_text_and_blobs_do_not_mix(self):
        for spec in ("bloom:memory=4K", "bloom:memory=4K,keys=bytes"):
            for values in ("('a'), (x'62')", "(x'62'), ('a')"):
                with self.assertRaisesRegex(sqlite3.OperationalError, "but the filter was made with"):
                    one(self.db, f"select evb_agg(column1, '{spec}') from (values {values})")

    def test_large_counts_are_real_numbers(self):
        self.db.execute("select evb_open('x', 'spectral:memory=4K,store=u32,update=plain')")
        for weight, count in ((2**32 - 2, 2**32 - 2), (1, float("inf"))):
            self.db.execute("select evb_add('x', 'k', ?)", (weight,))
            answer = one(self.db, "select evb_count('x', 'k')")
            self.assertEqual((answer, type(answer)), (count, type(count)))

    def test_errors_are_utf8(self):
        for raw in (b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x80",
                    b"\xff", b"\x01", b"\x7f"):
            with self.assertRaisesRegex(sqlite3.OperationalError, '"' + re.escape("?" * len(raw)) + '"'):
                one(self.db, "select evb_open('x', cast(? as text))", b"bloom:" + raw + b"=1")
        with self.assertRaisesRegex(sqlite3.OperationalError, '"ü€\ud7ff😀"'):
            one(self.db, "select evb_open('x', 'bloom:ü€\ud7ff😀=1')")

    def test_seeds(self):
        def seed(spec):
            return json.loads(one(self.db, "select evb_info(evb_agg(1, ?))", spec))["spec"].split("seed=")[1].split(",")[0]
        self.assertNotEqual(seed("bloom:memory=1K,seed=random"), seed("bloom:memory=1K,seed=random"))
        self.assertEqual((seed("bloom:memory=1K"), seed("bloom:memory=1K,seed=7")), ("0", "7"))

    def test_new_keys_of_a_stream(self):
        rng = random.Random(3)
        rows = [(f"u{rng.randrange(500)}",) for _ in range(4000)]
        self.db.execute("create table t(k)")
        self.db.executemany("insert into t values(?)", rows)
        got = [r[0] for r in self.db.execute("select k from t where evb_new(k, 'lru:memory=64K')")]
        self.assertEqual(list(dict.fromkeys(r[0] for r in rows)), got)
        again = [r[0] for r in self.db.execute("select k from t where evb_new(k, 'lru:memory=64K')")]
        self.assertEqual(got, again, "a statement begins anew")

    def test_top_and_iceberg(self):
        self.db.execute("create table t(k)")
        self.db.executemany("insert into t values(?)", [(f"key{i}",) for i in range(300) for _ in range(300 - i)])
        f = one(self.db, "select evb_agg(k, 'top:memory=64K') from t")
        self.assertEqual([(f"key{i}", 300 - i) for i in range(10)],
                         self.db.execute("select key, count from evb_top(?, 10)", (f,)).fetchall())
        rows = self.db.execute("select key, count from evb_iceberg(?, 250)", (f,)).fetchall()
        self.assertEqual({f"key{i}" for i in range(51)}, {k for k, _ in rows})

    def test_ranges(self):
        self.db.execute("create table t as with recursive c(i) as (select 0 union all select i + 1 from c where i < 9999) "
                        "select i * i % 10007 as k from c")
        f = one(self.db, "select evb_agg(k, 'dyadic:bits=16,memory=64K') from t")
        for low, high in [(0, 10007), (100, 199), (5000, 5000)]:
            exact = one(self.db, "select count(*) from t where k between ? and ?", low, high)
            lower, upper = self.db.execute("select lower, upper from evb_range(?, ?, ?)", (f, low, high)).fetchone()
            self.assertTrue(lower <= exact <= upper, (low, high, lower, exact, upper))
        lower, upper = self.db.execute("select lower, upper from evb_quantile(?, 0.5)", (f,)).fetchone()
        median = sorted(r[0] for r in self.db.execute("select k from t"))[4999]
        self.assertTrue(lower <= median <= upper)

    def test_named_filters(self):
        db = self.db
        self.assertEqual("seen", one(db, "select evb_open('seen', 'bloom:distinct=1000,fpr=0.001')"))
        self.assertEqual([0, 0, 1], [one(db, "select evb_add('seen', ?)", k) for k in ("a", "b", "a")])
        self.assertEqual(1, one(db, "select evb_has('seen', 'a')"))
        saved = one(db, "select evb_save('seen')")
        self.assertEqual(1, one(db, "select evb_has(?, 'b')", saved))
        self.assertEqual(1, one(db, "select evb_close('seen')"))
        self.assertEqual(0, one(db, "select evb_close('seen')"))
        with self.assertRaisesRegex(sqlite3.OperationalError, "no filter named 'seen'"):
            one(db, "select evb_has('seen', 'a')")
        db.execute("create view v as select evb_open('x', 'bloom:memory=1K')")
        with self.assertRaises(sqlite3.OperationalError):
            db.execute("select * from v").fetchall()

    def test_info(self):
        f = one(self.db, "select evb_agg(column1, 'bloom:distinct=100,fpr=0.01') from (values (1), (2), (2))")
        info = json.loads(one(self.db, "select evb_info(?)", f))
        self.assertTrue(info["spec"].startswith("bloom:"))
        self.assertEqual((3, 2), (info["adds"], info["new_keys"]))
        self.assertIn(("bloom",), self.db.execute("select name from evb_kinds").fetchall())

    def test_mistakes_get_one_sentence(self):
        cases = [
            ("select evb_agg(1, 'blom:memory=16K')", "blom"),
            ("select evb_agg(1, null)", "NULL"),
            ("select evb_agg(1, 'bloom:memory=1T')", "too large"),
            ("select evb_has(x'00', 1)", "snapshot"),
            ("select evb_has(7, 1)", "BLOB"),
            ("select * from evb_range(x'00', 1, 2)", "snapshot"),
            ("select * from evb_range", "argument"),
            ("select * from evb_top", "argument"),
            ("select evb_agg(1, 'spectral:memory=16K', -1)", "weight"),
            ("select evb_agg(1, 'spectral:memory=16K', 'x')", "weight"),
        ]
        for sql, words in cases:
            with self.assertRaisesRegex(sqlite3.Error, words, msg=sql):
                self.db.execute(sql).fetchall()
        self.assertIsNone(one(self.db, "select evb_agg(k, 'bloom') from (select 1 as k) where k < 0"))
        self.assertIsNone(one(self.db, "select evb_has(null, 1)"))

    def test_snapshots_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.eb")
            lines = "".join(f"{i}\n" for i in range(1000))
            subprocess.run([COMMAND, "add", "--filter", "bloom:distinct=1000,fpr=0.001,seed=7", "-o", path],
                           input=lines.encode(), check=True)
            with open(path, "rb") as file:
                theirs = file.read()
        ours = one(self.db, "with recursive c(i) as (select 0 union all select i + 1 from c where i < 999) "
                            "select evb_agg(i, 'bloom:distinct=1000,fpr=0.001,seed=7') from c")
        self.assertEqual(theirs, ours)

    def test_documentation(self):
        """docs/SQL.md: its examples run, and it names every function and table."""
        run = self.db.executescript
        run("create table log(host text); create table lists(name text, f blob);"
            "insert into log values('good.example'), ('bad.example'), ('bad.example');"
            "insert into lists select 'bad', evb_agg(column1, 'bloom:distinct=100,fpr=1e-6') from (values ('bad.example'), ('worse.example'))")
        answers = [self.db.execute(sql).fetchall() for sql in documented.examples("SQLite")]
        self.assertEqual([[("bad",)], [("bad.example",)] * 2], answers)
        there_are = {name for table in ("function_list", "module_list") for (name,) in
                     self.db.execute(f"select name from pragma_{table} where name like 'evb@_%' escape '@'")}
        self.assertEqual(there_are, documented.functions("SQLite"))

    def test_damaged_values_are_refused(self):
        """Or they are filters, which answer: half of them have right checksums."""
        rng = random.Random(5)
        good = [one(self.db, "select evb_agg(k, ?, 1, k) from (with recursive c(k) as (select 1 union all select k + 1 "
                             "from c where k < 100) select k from c)", s) for s in damage.SPECS]
        refused = 0
        for _ in range(ROUNDS):
            value, signed = damage.damage(rng, rng.choice(good))
            if value in good:
                continue
            try:
                self.db.execute("select evb_info(?)", (value,)).fetchall()
            except sqlite3.OperationalError:
                refused += 1
                with self.assertRaises(sqlite3.OperationalError):
                    self.db.execute("select evb_open('x', ?)", (value,)).fetchall()
                continue
            self.assertTrue(signed, "a value with wrong checksums was taken")
            self.db.execute("select evb_open('x', ?)", (value,))
            for sql in USES:
                try:
                    self.db.execute(sql, (value,) if "?" in sql else ()).fetchall()
                except sqlite3.OperationalError:
                    pass
        self.assertGreater(refused, ROUNDS * 0.4)
        print(f"sqlite: {refused} of {ROUNDS} damaged values were refused, the others are filters")

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=0)
