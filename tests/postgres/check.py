#!/usr/bin/python3
"""check.py LIBRARY EXTENSION-FOLDER --rounds N [TEST...]: the PostgreSQL extension on real servers, against exact answers of the
same database; a Bloomjoin between two servers; hostile values."""

import base64, os, pathlib, random, subprocess, sys, tempfile, time, unittest

sys.path.insert(0, __file__.rsplit("/", 1)[0])
sys.path.insert(0, __file__.rsplit("/", 2)[0])
import cluster, damage, documented

LIBRARY, EXTENSION = sys.argv[1:3]
TESTS = pathlib.Path(__file__).resolve().parent
ROUNDS = int(float(sys.argv[4]))
PARALLEL = ("set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;"
            "set max_parallel_workers_per_gather = 2;")


def setUpModule():
    global installation, here, there
    installation = cluster.Installation(LIBRARY, EXTENSION)
    unittest.addModuleCleanup(installation.remove)  # also if what follows fails
    preload = os.environ.get("SERVER_PRELOAD")  # the sanitizers
    environment = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else None
    here = cluster.Server(installation, environment=environment)
    unittest.addModuleCleanup(here.stop)
    there = cluster.Server(installation, environment=environment)
    unittest.addModuleCleanup(there.stop)
    for server in (here, there):
        server.sql("create extension everbloom")
    here.sql("""create table big as select (i * 7919::bigint) % 40000 as k from generate_series(1, 200000) i;
                analyze big;
                create table stored as select 1 as id, evb_agg(k, 'bloom:memory=4M') as f from big;
                insert into stored select 2, evb_agg(k + 1000000, 'bloom:memory=4M') from big""")


class Guarantees(unittest.TestCase):
    def test_nothing_is_missed_and_no_count_is_too_low(self):
        rng = random.Random(20)
        types = ["text", "bigint", "int", "uuid", "bytea", "timestamptz", "timestamp"]
        for i in range(20):
            kind = types[i % len(types)]
            rows, distinct, skew = rng.randrange(500, 8000), rng.randrange(50, 3000), rng.uniform(1.3, 3)
            number = f"floor({distinct} * random() ^ {skew})::int"
            key = {"text": f"'user ü' || {number}", "bigint": f"{number} * 7919::bigint - 5000", "int": number,
                   "uuid": f"md5(({number})::text)::uuid", "bytea": f"decode(md5(({number})::text), 'hex')",
                   "timestamptz": f"'2026-01-01Z'::timestamptz + {number} * interval '1.5 s'",
                   "timestamp": f"'2026-01-01'::timestamp + {number} * interval '1 ms'"}[kind]
            keys = "keys=bytes" if kind == "bytea" else "keys=text"
            got = here.sql(f"""
                select setseed({i / 20}); drop table if exists t;
                create table t as select {key} as k from generate_series(1, {rows}); insert into t values (null);
                with f as (select evb_agg(k, 'bloom:distinct=3000,fpr=0.01,{keys}') as b,
                                  evb_agg(k, 'spectral:memory=32K,update=plain,{keys}') as s from t)
                select (select count(*) from t, f where not evb_has(b, k)) || ' ' ||
                       (select count(*) from (select k, count(*) as c from t where k is not null group by k) x, f where evb_count(s, k) < c) || ' ' ||
                       (select count(*) from (select k, count(*) as c from t where k is not null group by k order by md5(k::text) limit 50) x, f
                        where (evb_estimate(s, k)).upper < c)""")
            self.assertEqual("0 0 0", got.split("\n")[-1], kind)

    def test_workers_make_the_same_bytes(self):
        merging = set(here.sql("select name from evb_kinds() where parallel").split())
        specs = ["bloom:distinct=40000,fpr=0.01", "bloom:distinct=40000,fpr=0.01,layout=line", "spectral:memory=512K,update=plain",
                 "dyadic:bits=20,memory=256K", "weighted:memory=256K,class_bits=3:9"]
        self.assertLessEqual(merging, {spec.partition(":")[0] for spec in specs}, "every kind that merges is tried")
        for spec in specs:
            query = f"select evb_agg(k, '{spec}')::bytea from big"
            plan = here.sql(PARALLEL + "explain " + query)
            self.assertIn("Partial Aggregate", plan, spec)
            serial = here.sql(f"set max_parallel_workers_per_gather = 0; select md5(x.evb_agg) from ({query}) x")
            parallel = here.sql(PARALLEL + f"select md5(x.evb_agg) from ({query}) x")
            self.assertEqual(serial, parallel, spec)

    def test_seeds(self):
        def seed(spec):
            return here.sql(PARALLEL + f"select evb_info(evb_agg(k, '{spec}'))->>'spec' from big").split("seed=")[1].split(",")[0]
        spec = "bloom:distinct=40000,fpr=0.01,seed=random"  # one for all workers
        self.assertNotEqual(seed(spec), seed(spec))
        self.assertEqual((seed("bloom:memory=1K"), seed("bloom:memory=1K,seed=7")), ("0", "7"))

    def test_kinds_that_forget_need_an_order(self):
        message = here.refused("select evb_agg(i::bigint, 'lru:memory=64K') from generate_series(1, 10) i")
        self.assertIn("0A000", message)
        self.assertIn("evb_stream_agg", message)
        self.assertEqual("t", here.sql("select evb_has(evb_stream_agg(i::bigint, 'lru:memory=64K' order by i), 10::bigint) "
                                       "from generate_series(1, 10) i"))

    def test_a_kind_that_cannot_merge_fails_before_the_scan(self):
        """Also where no row would ever reach the aggregate, and when only a plan is asked for."""
        for sql in ("explain select evb_agg(k, 'lru:memory=64K') from big",
                    "select evb_agg(k, 'spectral:memory=64K') from big where k < 0",
                    "prepare q(bigint) as select evb_agg(k, 'blom') from big where k = $1"):
            self.assertRegex(here.refused(PARALLEL + sql), "0A000|22023")
        self.assertEqual("t", here.sql("select evb_has(evb_agg(k, s), 5::bigint) from big, (select 'bloom:memory='::text || '64K' as s) x"))

    def test_counts_in_parallel(self):
        """evb_count_agg chooses update=plain by itself; what does not count is refused before the scan."""
        query = "select evb_count_agg(k, 'spectral:memory=512K') as f from big"
        self.assertIn("Partial Aggregate", here.sql(PARALLEL + "explain " + query))
        got = here.sql(PARALLEL + f"with f as materialized ({query}) select count(*) filter (where evb_count(f, k) < n), "
                       "count(*) filter (where evb_count(f, k) > n) < 400 from f, (select k, count(*) as n from big group by k) x")
        self.assertEqual("0|t", got)
        plain = "select md5(evb_agg(k, 'spectral:memory=512K,update=plain', 3)::bytea) from big"
        self.assertEqual(here.sql(plain), here.sql(PARALLEL + "select md5(evb_count_agg(k, 'spectral:memory=512K', 3)::bytea) from big"))
        for spec in ("bloom:memory=64K", "lru:memory=64K", "spectral:memory=64K,update=conservative"):
            self.assertIn("0A000", here.refused(f"explain select evb_count_agg(k, '{spec}') from big"))

    def test_plans(self):
        kind, spec, mean, end = here.sql("select kind, spec, fpr_mean, fpr_at_end from evb_plan(distinct_keys => 20000, fpr => 0.01, "
                                         "parallel => true) limit 1").split("|")
        self.assertEqual(kind, spec.partition(":")[0])
        self.assertLessEqual(float(mean), 0.01)
        wrong = int(here.sql(f"with f as materialized (select evb_agg(i, '{spec}') as f from generate_series(1, 20000::bigint) i) "
                             "select count(*) from f, generate_series(1000001, 1040000::bigint) i where evb_has(f, i)"))
        expected = float(end) * 40000
        self.assertLess(abs(wrong - expected), 5 * expected ** 0.5 + 0.05 * expected, f"{wrong} {expected}")
        self.assertIn("54000", here.refused("select * from evb_plan(distinct_keys => 1e9, fpr => 1e-9, fnr => 1e-9, memory => 1e3)"))

    def test_a_large_aggregate_is_cancelled_at_once(self):
        session = here.session()
        self.addCleanup(session.close)
        session.start("select length(evb_agg(i, 'bloom:memory=1000M')::bytea) from generate_series(1, 1000000000000::bigint) i")
        began = time.monotonic()
        while session.cpu() < 1 and time.monotonic() - began < 60:
            time.sleep(0.05)  # it is filling the filter
        before = time.monotonic()
        here.sql(f"select pg_cancel_backend({session.pid})")
        self.assertIn("canceling statement", session.result())
        self.assertLess(time.monotonic() - before, 60)  # bench/postgres.py measures it: 0.04 s

    def test_memory_belongs_to_the_context(self):
        """While a filter of 64 MB is in use, PostgreSQL's own accounting shows it; afterwards it is gone."""
        session = here.session()
        self.addCleanup(session.close)
        used = "(select sum(total_bytes) from pg_backend_memory_contexts)"
        before = int(session.sql(f"select {used}"))
        largest = session.sql(f"select max(case when i = 3 then {used} end) from generate_series(1, 3) i "
                              "where not evb_seen(i::text, 'bloom:memory=64M')")
        self.assertGreater(int(largest) - before, 64 << 20)
        for _ in range(3):
            session.sql("select evb_info(evb_agg(i, 'bloom:memory=64M')) from generate_series(1, 1000::bigint) i")
        self.assertLess(int(session.sql(f"select {used}")) - before, 2 << 20)

    def test_windows_of_time(self):
        got = here.sql("""
            with f as (select evb_stream_agg(i::text, 'window:window=60000,unit=time,memory=64K', 1,
                              '2026-01-01Z'::timestamptz + i * interval '1 s' order by i) as f from generate_series(1, 600) i)
            select evb_has(f, '600'), evb_has(f, '545'), evb_has(f, '400'),
                   evb_has(f, '545', '2026-01-01T00:12:00Z') from f""")
        self.assertEqual("t|t|f|f", got)

    def test_a_stored_filter_is_loaded_once(self):
        self.assertEqual("40000", here.sql("select count(*) from (select distinct k from big) x "
                                           "where evb_has((select f from stored where id = 1), k)"))
        self.assertEqual("t|f\nf|t", here.sql("select evb_has(f, 5::bigint), evb_has(f, 1000005::bigint) "
                                              "from stored order by id"))

    def test_values_travel_as_text_and_binary(self):
        here.sql("create table copy_of (f evb)")
        text = here.sql("select f from stored where id = 1")
        self.assertEqual("t", here.sql(f"insert into copy_of values ('{text}'); select copy_of.f::bytea = stored.f::bytea "
                                       "from copy_of, stored where id = 1"))
        out = here.psql("copy copy_of to stdout with (format binary)").stdout
        there.sql("create table copy_of (f evb)")
        done = there.psql(out, "-c", "copy copy_of from stdin with (format binary)")
        self.assertEqual(0, done.returncode)

    def test_mistakes_get_a_sqlstate(self):
        for sql, state, words in [
                ("select 'x!'::evb", "22P02", "base64"),
                ("select 'AAAA'::evb", "22P03", "snapshot"),
                ("select evb_agg(1::bigint, 'blom:memory=1K')", "22023", "blom"),
                ("select evb_agg(1::bigint, null)", "22004", "NULL"),
                ("select evb_agg(1::bigint, 'bloom:memory=2G')", "54000", "1 GB"),
                ("select evb_has(f, 'x'::bytea) from stored", "42804", "keys"),
                ("select evb_count(f, 1::bigint) from stored", "0A000", "count"),
                ("select * from evb_top((select f from stored limit 1), 0)", "22023", "1 or more"),
                ("select * from evb_top((select f from stored limit 1))", "0A000", "top"),
                ("select evb_bloomjoin('big', 'k', 'big', 'k', condition => 'drop')", "22023", "condition"),
        ]:
            message = here.refused(sql)
            self.assertIn(state, message, sql)
            self.assertIn(words, message, sql)

    def test_top(self):
        got = here.sql("with f as (select evb_stream_agg(k, 'top:memory=64K') as f from (select 'key' || i as k "
                       "from generate_series(1, 200) i, generate_series(1, 201 - i) j) x) "
                       "select string_agg(key || '=' || count, ',') from (select * from f, evb_top(f, 3)) y")
        self.assertEqual("key1=200,key2=199,key3=198", got)

    def test_text_is_utf8_whatever_the_database_has(self):
        here.sql("create database latin encoding 'LATIN1' locale 'C' template template0")
        made = here.psql("create extension everbloom; set client_encoding = 'UTF8';"
                         "select evb_stream_agg('müller'::text, 'top:memory=16K'); select key from evb_top((select evb_stream_agg("
                         "'müller'::text, 'top:memory=16K')))", "-d", "latin").stdout.decode().split()
        self.assertEqual("müller", made[1])
        self.assertEqual("müller|1", here.sql(f"select key, count from evb_top('{made[0]}')"))

    def test_seen_in_a_query(self):
        self.assertEqual("100", here.sql("select count(*) from generate_series(1, 500) i "
                                         "where not evb_seen((i % 100)::text, 'lru:memory=64K')"))


class ZServers(unittest.TestCase):
    """The last: what the servers wrote while all others ran."""

    def test_no_backend_died_and_no_sanitizer_complained(self):
        for server in (here, there):
            log = pathlib.Path(server.folder, "log").read_text(errors="replace")
            for words in ("AddressSanitizer", "runtime error", "terminated by signal"):
                self.assertNotIn(words, log)


class Regression(unittest.TestCase):
    def test_pg_regress(self):
        """PostgreSQL's own way: sql/*.sql must print expected/*.out, in a database of its own."""
        with open(installation.extensions + "/everbloom--0.1.0--0.1.0-test.sql", "w") as script:
            script.write("create function evb_updated() returns text language sql as 'select ''updated''::text';")
        tests = sorted(path.stem for path in TESTS.glob("sql/*.sql"))
        with tempfile.TemporaryDirectory() as out:
            os.chmod(out, 0o777)  # the server writes a copy there
            done = subprocess.run([cluster.LIBRARIES + "/pgxs/src/test/regress/pg_regress", "--bindir", cluster.PROGRAMS, "--inputdir", str(TESTS),
                                   "--outputdir", out, "--host", here.folder, "--port", str(here.port), "--user", "postgres",
                                   "--dbname", "regression", "--load-extension", "everbloom", *tests],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            differences = pathlib.Path(out, "regression.diffs")
            self.assertEqual(0, done.returncode, done.stdout.decode() + (differences.read_text() if differences.exists() else ""))


class Bloomjoin(unittest.TestCase):
    """Two servers and postgres_fdw: rows whose key is not here stay there."""

    @classmethod
    def setUpClass(cls):
        there.sql("create table calls as select i::bigint as k, 'call ' || i as what from generate_series(1, 200000) i; analyze calls")
        here.sql(f"""create extension postgres_fdw;
            create server remote foreign data wrapper postgres_fdw
                options (host '127.0.0.1', port '{there.port}', dbname 'postgres', extensions 'everbloom');
            create user mapping for current_user server remote options (user 'postgres');
            import foreign schema public limit to (calls) from server remote into public;
            create table customers as select (i * 200)::bigint as k from generate_series(1, 1000) i;
            insert into customers select k from customers where k % 400 = 0; analyze customers""")

    def shipped(self, query):
        plan = here.sql("explain (analyze, verbose, costs off, timing off, summary off) " + query)
        lines = plan.split("\n")
        at = next(i for i, line in enumerate(lines) if "Foreign Scan" in line)
        remote = next((line for line in lines[at:] if "Remote SQL" in line), "")
        return int(lines[at].split("actual rows=")[1].split(" ")[0]), remote

    def test_classic(self):
        query = here.sql("select evb_bloomjoin('customers', 'k', 'calls', 'k', 'bloom:distinct=1000,fpr=0.001')")
        rows, remote = self.shipped(query)
        self.assertIn("evb_has", remote)
        self.assertLess(rows, 1.05 * (1000 + 0.001 * 199000) + 60)
        exact = here.sql("select count(*) from customers join calls using (k)")
        self.assertEqual(exact, here.sql(f"select count(*) from ({query.replace('r.*, l.*', '1')}) x"))

    def test_spectral(self):
        for having in ("> 1", ">= 2", "= 2", "= 1", "< 2"):
            query = here.sql(f"select evb_bloomjoin('customers', 'k', 'calls', 'k', "
                             f"'spectral:memory=64K,update=plain', condition => '{having}')")
            rows, remote = self.shipped(query)
            self.assertIn("evb_count", remote)
            exact = here.sql(f"select count(*) from calls where k in (select k from customers group by k having count(*) {having})")
            self.assertEqual(exact, here.sql(f"select count(*) from ({query}) x"), having)
            self.assertLess(rows, 1500)


class Documented(unittest.TestCase):
    """docs/SQL.md: its examples run, on tables such as they speak of, and it names every function."""

    def ask(self, sql, server=None):
        done = (server or here).psql(sql, "-d", "documented")
        self.assertEqual(0, done.returncode, f"{sql}: {done.stderr.decode()}")
        return done.stdout.decode().strip()

    def test_examples(self):
        for server in (here, there):
            server.sql("create database documented")
        self.ask("create extension everbloom; create table calls as select i::bigint as k from generate_series(1, 50000) i", there)
        self.ask("create extension postgres_fdw; create table customers as select (i * 100)::bigint as k from generate_series(1, 100) i;"
                 "create table log as select '/page/' || i as url from generate_series(1, 1000) i;"
                 "create table today as select '/page/' || i as url from generate_series(901, 1100) i;"
                 "create table calls as select 'alice' as who, now() - i * interval '1 minute' as at from generate_series(1, 20) i")
        answers = {}
        for sql in documented.examples("PostgreSQL"):
            remote = sql.startswith("create server")
            answers[sql.split("(")[0]] = self.ask(sql.replace("'...'", f"'127.0.0.1', port '{there.port}', dbname 'documented'"))
            if remote:
                self.ask("drop table calls; create user mapping for current_user server remote options (user 'postgres');"
                         "import foreign schema public limit to (calls) from server remote into public")
        self.assertEqual([f"/page/{i}" for i in range(1001, 1101)], answers["select * from today where not evb_has"].split())
        count, estimate, lower, upper, _ = map(float, answers["select evb_count"].split("|"))
        self.assertTrue(count == estimate == 20 and lower <= 20 <= upper, (count, estimate, lower, upper))
        self.assertEqual("t", answers["select evb_has"])
        join = answers["select evb_bloomjoin"]
        self.assertEqual("100", self.ask(f"select count(*) from ({join}) x"))
        self.assertIn("evb_has", self.ask("explain verbose " + join))
        self.assertEqual(7, len(answers))

    def test_functions(self):
        hidden = "'internal'::regtype, 'cstring'::regtype"  # what no query can call
        there_are = set(here.sql(f"select distinct proname from pg_proc where proname like 'evb\_%' and not prorettype in ({hidden}) and "
                                 f"not proargtypes::oid[] && array[{hidden}]::oid[] and proname <> 'evb_send'").split())
        self.assertEqual(there_are, documented.functions("PostgreSQL"))


class Hostile(unittest.TestCase):
    def test_damaged_values(self):
        """Through receive, text input and the cast from bytea.  What is taken is a filter, which answers: half of the values have
        right checksums, so that only a kind's own checks can refuse them."""
        rng = random.Random(9)
        good = [base64.b64decode(here.sql(f"select evb_stream_agg(i::bigint, '{s}', 1, 'epoch'::timestamptz + i * interval '1 ms' order by i) "
                                          "from generate_series(1, 100) i")) for s in damage.SPECS]
        uses = ["evb_info(v)", "evb_has(v, 5::bigint)", "evb_count(v, 5::bigint, 'epoch'::timestamptz + interval '1 s')",
                "evb_estimate(v, 5::bigint)", "evb_merge(v, v)", "evb_range(v, 3, 900)", "evb_quantile(v, 0.3)", "evb_sum(v, array[1, 2, 3::bigint])",
                "evb_join_size(v, v)", "evb_top(v, 10)", "evb_iceberg(v, 1)", "evb_out(v)"]
        tries = "".join(f"begin perform {use}; exception when others then refused := refused + 1; end; " for use in uses)
        here.sql(f"create function use_value(v evb) returns int language plpgsql as $$ declare refused int := 0; begin {tries} return refused; end $$")
        evb = int(here.sql("select 'evb'::regtype::oid"))
        wire = here.wire()
        self.addCleanup(wire.close)
        wire.prepare("evb", "select use_value($1)", evb)
        wire.prepare("bytea", "select use_value($1::evb)", 17)
        refused = taken = 0
        for _ in range(0, ROUNDS, 20):
            values = [damage.damage(rng, rng.choice(good)) for _ in range(20)]
            doors = [rng.choice([("evb", 1), ("evb", 0), ("bytea", 1)]) for _ in values]
            answers = wire.ask([(name, binary, value if binary else base64.b64encode(value)) for (value, _), (name, binary) in zip(values, doors)])
            for (value, signed), answer in zip(values, answers):
                if answer is None:
                    refused += 1
                elif value not in good:
                    taken += 1
                    self.assertTrue(signed, "a value with wrong checksums was taken")
                    self.assertLess(int(answer), len(uses))
        self.assertEqual("1", here.sql("select 1"))
        self.assertGreater(refused, ROUNDS * 0.4)
        print(f"postgres: {refused} of {ROUNDS} damaged values were refused, the others are filters")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=0)
