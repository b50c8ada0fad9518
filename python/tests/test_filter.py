"""Filters from Python: keys, batches, snapshots, errors."""

import copy
import os
import pickle
import random
import tempfile
import unittest

import everbloom
from everbloom import Error, Filter


def bools(answer):
    return [bool(x) for x in answer]


class Keys(unittest.TestCase):
    def test_str_bytes_and_int_are_one_key(self):
        f = Filter("bloom:memory=64K,k=7")
        f.update(["42", "caf\u00e9", -7])
        self.assertEqual(bools(f.seen([42, b"42", "42"])), [True] * 3)
        self.assertEqual(bools(f.seen(["caf\u00e9".encode(), "-7", b"-7", 7])), [True, True, True, False])
        self.assertTrue(bytearray(b"42") in f)

    def test_large_ints_are_their_decimal_text(self):
        for number in (2**63 - 1, 2**63, -(2**63), 2**64, 10**40, -(10**40), 0):
            f = Filter("bloom:memory=1K,k=5")
            f.add(number)
            self.assertIn(str(number), f)
            self.assertEqual(bools(f.seen([number, str(number), number + 1])), [True, True, False])

    def test_numbers_as_numbers(self):
        f = Filter("bloom:memory=64K,k=7,keys=i64")
        f.update(range(-5, 5))
        self.assertEqual(bools(f.seen([-5, "-5", 4, 5])), [True, True, True, False])
        with self.assertRaises(Error) as caught:
            f.add(["1", "2", "no number"])
        self.assertEqual((caught.exception.status, caught.exception.at), ("EKEY", 2))
        self.assertNotIn(111, f)

    def test_bytes_filters_take_bytes(self):
        f = Filter("bloom:memory=1K,k=5,keys=bytes")
        self.assertFalse(f.add(b"\xff\0"))
        self.assertIn(b"\xff\0", f)
        for wrong in ("x", 1, ["x"], [1]):
            self.assertRaises(TypeError, f.add, wrong)

    def test_what_is_no_key(self):
        f = Filter("lru:memory=64K")
        for wrong in (None, 1.5, True, object(), [1.5], ["a", None], [True], [["a"]]):
            self.assertRaises(TypeError, f.add, wrong)
        self.assertRaises(UnicodeEncodeError, f.add, "\ud800")
        self.assertEqual(f.stats().adds, 0)

    def test_hashes_agree_for_all_ways(self):
        f = Filter("lru:memory=64K,seed=3")
        words = ["", "a", "b" * 300, "\u4e2d"] + [str(i) for i in range(600)]
        batch = [int(h) for h in f.hashes(words)]
        self.assertEqual(batch, [f.hashes(word) for word in words])
        self.assertEqual(batch, [int(h) for h in f.hashes([word.encode() for word in words])])
        self.assertEqual(batch[4:], [int(h) for h in f.hashes(list(range(600)))])
        mixed = [int(w) if i % 3 == 0 else w.encode() if i % 3 == 1 else w for i, w in enumerate(words[4:])]
        self.assertEqual(batch[4:], [int(h) for h in f.hashes(mixed)])

    def test_a_list_that_changes_while_it_is_read(self):
        class Shrinks:
            def __index__(self):
                del keys[1:]
                return 5

        keys = [Shrinks()] + [str(i) for i in range(10000)]
        f = Filter("lru:memory=64K")
        with self.assertRaises(IndexError):
            f.update(keys)
        self.assertEqual(f.stats().adds, 0)


class Batches(unittest.TestCase):
    def test_batches_equal_singles(self):
        rng = random.Random(1)
        words = [str(rng.randrange(3000)) for _ in range(5000)]
        for spec in ("lru:memory=16K", "stable:memory=4K,fpr=0.01", "spectral:memory=32K", "window:memory=64K,window=1000"):
            one, many, pieces = (Filter(spec, seed=1) for _ in range(3))
            single = [one.add(word) for word in words]
            self.assertEqual(bools(many.add(words)), single, spec)
            for at in range(0, len(words), 777):
                pieces.update(iter(words[at : at + 777]))
            self.assertEqual(one.dumps(), many.dumps(), spec)
            self.assertEqual(one.dumps(), pieces.dumps(), spec)
            self.assertEqual(bools(one.seen(words)), [word in one for word in words], spec)

    def test_long_iterators(self):
        f, g = Filter("bloom:memory=1M,k=3"), Filter("bloom:memory=1M,k=3")
        f.update(str(i) for i in range(200000))
        g.update([str(i) for i in range(200000)])
        self.assertEqual(f.dumps(), g.dumps())
        g.update([])
        self.assertEqual(f.dumps(), g.dumps())
        self.assertEqual(len(f.seen([])), 0)

    def test_values(self):
        f = Filter("spectral:memory=64K,store=line")
        f.update(["a", "b"], value=[3, 4])
        f.update(["a", "b"], value=10)
        f.add("a", value=100)
        self.assertEqual((f.count("a"), f.count("b"), f.count("c")), (113, 14, 0))
        self.assertEqual([float(x) for x in f.count(["b", "a"])], [14, 113])
        self.assertRaises(ValueError, f.update, ["a", "b"], value=[1])
        self.assertRaises(ValueError, f.update, ["a"], value=[-1])
        self.assertRaises(ValueError, f.update, ["a"], value=2**64)
        self.assertEqual(f.count("a"), 113)

    def test_times(self):
        import datetime

        f = Filter("window:memory=64K,window=10000,unit=time,fpr=0.001")
        start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
        self.assertFalse(f.add("a", time=start))
        self.assertTrue(f.seen("a", time=start + datetime.timedelta(seconds=9)))
        self.assertTrue(f.add("a", time=start + datetime.timedelta(seconds=5)))
        self.assertFalse(f.add("a", time=start + datetime.timedelta(seconds=60)))
        self.assertEqual(f.stats().clock, int(start.timestamp() * 1000) + 60000)
        with self.assertRaises(Error) as caught:
            f.add(["b", "c"], time=[10**15, 10**14])
        self.assertEqual((caught.exception.status, caught.exception.at), ("ETIME", 1))
        f.advance(start + datetime.timedelta(days=1))
        self.assertFalse(f.seen("a"))

    def test_decay(self):
        f = Filter("decay:memory=64K,halflife=1000")
        f.add("a", time=0)
        self.assertAlmostEqual(f.count("a", time=1000), 0.5, delta=0.01)
        self.assertGreaterEqual(f.count("a", time=0), 0.99)

    def test_remove_and_merge(self):
        f = Filter("spectral:memory=64K,update=plain")
        f.update(["a", "a", "b"])
        f.remove(["a", "b"])
        self.assertEqual((f.count("a"), f.count("b")), (1, 0))
        with self.assertRaises(Error) as caught:
            f.remove("never")
        self.assertEqual(caught.exception.status, "EVALUE")
        g = f.copy()
        g.merge(f, weight=3)
        self.assertEqual(g.count("a"), 4)
        g.merge(f, -4)
        self.assertEqual(g.count("a"), 0)
        full = f
        for _ in range(5):
            more = Filter(full.spec)
            more.merge(full, 1000)
            full = more
        self.assertEqual(full.count("a"), float("inf"))
        self.assertRaises(ValueError, f.merge, f)
        self.assertRaises(TypeError, f.merge, "f")
        with self.assertRaises(Error) as caught:
            f.merge(Filter("spectral:memory=32K,update=plain"))
        self.assertEqual(caught.exception.status, "EMISMATCH")


class Snapshots(unittest.TestCase):
    def test_round_trips(self):
        f = Filter("lru", memory="64K", seed=5)
        f.update(str(i) for i in range(1000))
        for g in (Filter.loads(f.dumps()), Filter.loads(memoryview(f.dumps())), pickle.loads(pickle.dumps(f)),
                  copy.copy(f), copy.deepcopy(f), Filter(f.spec)):  # fmt: skip
            self.assertEqual(g.spec, f.spec)
            self.assertEqual(g.dumps() == f.dumps(), "999" in g)
        self.assertIs(type(pickle.loads(pickle.dumps(everbloom.Ranges(bits=8)))), everbloom.Ranges)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.eb")
            f = Filter("bloom:memory=64K,k=5")
            f.update(["a", "b"])
            f.save(path)
            f.save(path)
            self.assertEqual(os.listdir(folder), ["f.eb"])
            self.assertEqual(os.stat(path).st_mode & 0o700, 0o600)
            self.assertEqual(everbloom.load(path).dumps(), f.dumps())
            with open(path, "rb") as file:
                views = [everbloom.view(path), everbloom.view(path, trust=True), everbloom.view(file)]
                file.seek(0)
                views.append(everbloom.view(file.read()))
            for view in views:
                self.assertEqual(bools(view.seen(["a", "b", "c"])), [True, True, False])
                for change in (lambda: view.add("c"), view.clear, lambda: view.update(["c"])):
                    with self.assertRaises(Error) as caught:
                        change()
                    self.assertEqual(caught.exception.status, "EREADONLY")
                self.assertFalse(view.copy().add("c"))
            self.assertRaises(OSError, f.save, os.path.join(folder, "none", "f.eb"))
            self.assertRaises(OSError, everbloom.load, os.path.join(folder, "none"))

    def test_a_view_keeps_its_buffer(self):
        data = bytearray(Filter("bloom:memory=1K,k=3").dumps())
        view = everbloom.view(data)
        self.assertRaises(BufferError, data.extend, b"x")
        del view
        data.extend(b"x")

    def test_damage_is_refused(self):
        rng = random.Random(7)
        for spec in ("lru:memory=2K", "spectral:memory=2K", "bloom:memory=1K,k=3", "window:memory=4K,window=100"):
            f = Filter(spec)
            f.update(str(i) for i in range(50))
            good = f.dumps()
            for _ in range(600):
                bad = bytearray(good)
                for _ in range(rng.choice((1, 1, 2, 30))):
                    bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
                if rng.random() < 0.3:
                    del bad[rng.randrange(len(bad)) :]
                for read in (Filter.loads, Filter.view):
                    try:
                        g = read(bytes(bad))
                    except Error as e:
                        self.assertIn(e.status, ("EFORMAT", "EVERSION", "ESPEC", "EMISMATCH", "ELIMIT"))
                    except MemoryError:
                        pass
                    else:
                        self.assertEqual(bytes(bad), good)
                        g.seen(["a"])
            for junk in (b"", b"x", b"\0" * 64, os.urandom(600)):
                self.assertRaises(Error, Filter.loads, junk)

    def test_deltas(self):
        f = Filter("spectral:memory=64K")
        f.update(list("abc"))
        old = f.copy()
        f.update(list("cde"))
        self.assertEqual(old.patch(f.diff(old)).dumps(), f.dumps())
        self.assertRaises(Error, old.patch, b"rubbish")
        with self.assertRaises(Error):
            f.patch(f.diff(old))


class Others(unittest.TestCase):
    def test_specs(self):
        self.assertEqual(Filter("bloom", memory="1K", k=5).spec, Filter("bloom:memory=1K", k=5).spec)
        info = everbloom.describe("bloom:memory=1M,k=7")
        self.assertEqual(info.kind, "bloom")
        self.assertIn("merge", info.caps)
        self.assertLess(abs(info.bytes - 2**20), 4096)
        for wrong in ("", "blom", "bloom:memory=x", "bloom:memory=1K,k=5,k=6"):
            with self.assertRaises(Error) as caught:
                Filter(wrong)
            self.assertEqual(caught.exception.status, "ESPEC", wrong)
        self.assertRaises(TypeError, Filter)
        self.assertRaises(TypeError, Filter, b"bloom")
        self.assertRaises(Error, Filter, "bloom", nonsense=3)

    def test_what_a_message_quotes_may_be_no_text(self):
        f = Filter("bloom:memory=4K,keys=i64")
        with self.assertRaisesRegex(Error, r"not \"a\u00e9{19}\\xc3\"") as caught:  # cut inside a character
            f.add(["7", "a" + "\u00e9" * 30])
        self.assertEqual(caught.exception.at, 1)

    def test_unsupported(self):
        f = Filter("lru:memory=64K")
        for call in (lambda: f.count("a"), lambda: f.remove("a"), lambda: f.advance(5)):
            with self.assertRaises(Error) as caught:
                call()
            self.assertEqual(caught.exception.status, "ENOTSUP")

    def test_calls(self):
        f = Filter("lru:memory=64K")
        self.assertRaises(TypeError, f.add)
        self.assertRaises(TypeError, f.add, "a", 1, 2, 3)
        self.assertRaises(TypeError, f.add, "a", key="a")
        self.assertRaises(TypeError, f.add, "a", nonsense="a")
        self.assertRaises(TypeError, f.update, "abc")
        self.assertRaises(TypeError, lambda: ["a"] in f)
        self.assertFalse(f.add(key="a"))

    def test_kinds(self):
        kinds = everbloom.kinds()
        self.assertIn("lru", [kind.name for kind in kinds])
        for kind in kinds:
            self.assertIn("seed", [option.key for option in kind.options])

    def test_queries(self):
        f = Filter("spectral:memory=64K,update=plain")
        f.update(["a", "b", "a"])
        e = f.estimate("a")
        self.assertLessEqual(e.lower, 2)
        self.assertGreaterEqual(e.upper, 2)
        self.assertEqual([x.count for x in f.estimate(["b", "a"])], [1, 2])
        self.assertEqual(f.sum(["a", "b"]).upper, 3)
        frozen = f.convert("frozen=line")
        self.assertEqual(frozen.count("a"), 2)
        self.assertRaises(Error, frozen.add, "a")
        self.assertEqual(everbloom.join(f, f).upper, 5)

    def test_ranges(self):
        r = everbloom.Ranges(bits=16)
        r.update(range(0, 1000, 2))
        got = r.range(100, 199)
        self.assertLessEqual(got.lower, 50)
        self.assertGreaterEqual(got.upper, 50)
        middle = r.quantile(0.5)
        self.assertTrue(middle.lower <= 498 <= middle.upper)
        self.assertRaises(Error, r.add, 70000)
        self.assertRaises(Error, r.add, "word")

    def test_signed_ranges(self):
        r = everbloom.Ranges(bits=16, low=-1000, keys="i64")
        r.update(range(-100, 100))
        self.assertGreaterEqual(r.range(-10, 9).upper, 20)
        self.assertLessEqual(r.range(-10, 9).lower, 20)
        middle = r.quantile(0.5)
        self.assertTrue(middle.lower <= -1 <= middle.upper, middle)

    def test_a_filter_that_cannot_be_merged_has_a_seed_that_nobody_can_guess(self):
        def seed(*args, **options):
            return dict(pair.split("=") for pair in Filter(*args, **options).spec.split(":")[1].split(","))["seed"]

        for spec in "lru:memory=64K", "choosy:memory=64K", "window:memory=64K", "bloom:memory=64K,seed=random":
            self.assertNotEqual(seed(spec), seed(spec))
        self.assertNotEqual(seed("bloom", memory="64K", seed="random"), seed("bloom", memory="64K", seed="random"))
        self.assertEqual(seed("bloom:memory=64K"), "0")
        self.assertEqual(seed("lru", memory="64K", seed=5), "5")
        self.assertRaises(Error, Filter, "lru:seed=rand")

    def test_dedup(self):
        words = "to be or not to be".split()
        self.assertEqual(list(everbloom.dedup(words)), ["to", "be", "or", "not"])
        self.assertEqual(list(everbloom.dedup(words, memory="1M", spec="bloom:k=5")), ["to", "be", "or", "not"])
        f = Filter("lru:memory=64K")
        list(everbloom.dedup(words, spec=f))
        self.assertEqual(list(everbloom.dedup(["be", "that"], spec=f)), ["that"])
        rows = [("a", 1), ("b", 2), ("a", 3)]
        self.assertEqual(list(everbloom.dedup(rows, key=lambda row: row[0])), rows[:2])
        self.assertRaises(TypeError, list, everbloom.dedup(rows))

    def test_plans_and_predictions(self):
        p = everbloom.predict("bloom:memory=1M,k=7", items=1e6)
        self.assertTrue(0.01 < p.fpr < 0.03, p)
        curve = everbloom.predict("bloom:memory=1M,k=7", items=[1e5, 1e6])
        self.assertEqual(len(curve.fpr), 2)
        self.assertAlmostEqual(float(curve.fpr[1]), p.fpr, places=6)
        offers = everbloom.plan(items=2e6, distinct=1e6, fpr=0.01, fnr=1e-9)
        Filter(offers[0].spec)
        with self.assertRaises(Error) as caught:
            everbloom.plan(items=1e9, distinct=1e9, fpr=1e-9, fnr=1e-9, memory="1K")
        self.assertEqual(caught.exception.status, "ELIMIT")
        self.assertRaisesRegex(ValueError, "not an empty collection", everbloom.predict, "lru:memory=1M", items=[])

    def test_sizes_of_plans(self):
        def best(memory):
            return everbloom.plan(items=1e4, distinct=1e4, memory=memory)[0].spec

        for size in ("64k", "0.0625M", "65536", "6.4e1K", 65536):
            self.assertEqual(best(size), best("64K"), size)
        for size in ("64KK", "64KiB", "little", "", "K", "-1M", "1e"):
            with self.assertRaisesRegex(ValueError, "memory must be a size"):
                best(size)

    def test_icebergs(self):
        top = everbloom.Top(memory="64K")
        top.update(str(n) for n in range(20) for _ in range(n))
        self.assertEqual(top.most_common(100, at_least=17), [("19", 19.0), ("18", 18.0), ("17", 17.0)])
        self.assertEqual(top.most_common(1, at_least=17), [("19", 19.0)])
        self.assertEqual(top.watermark, 0)


if __name__ == "__main__":
    unittest.main()
