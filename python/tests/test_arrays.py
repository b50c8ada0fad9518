"""Columns of other packages.  Each part is skipped where its package is not installed."""

import datetime
import unittest

import everbloom
from everbloom import Error, Filter

try:
    import numpy as np
except ImportError:
    np = None
try:
    import pyarrow as pa
except ImportError:
    pa = None


@unittest.skipUnless(np, "numpy is not installed")
class Numpy(unittest.TestCase):
    def setUp(self):
        self.f = Filter("bloom:memory=64K,k=7,seed=1")

    def expect(self, keys, texts):
        np.testing.assert_array_equal(self.f.hashes(keys), self.f.hashes(texts))

    def test_numbers(self):
        for kind in "bBhHiIlLqQ":
            a = np.array([0, 1, 100, np.iinfo(kind).max, np.iinfo(kind).min], dtype=kind)
            texts = [str(int(x)) for x in a]
            self.expect(a, texts)
            self.expect(a[::-1], texts[::-1])
            self.expect(a[::2], texts[::2])
            self.expect(a.astype(a.dtype.newbyteorder()), texts)
            self.assertEqual(self.f.hashes(a[3]), self.f.hashes(texts[3]))
            unaligned = np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype)
            self.expect(unaligned, texts)

    def test_texts(self):
        words = ["", "a", "caf\u00e9", "\u4e2d\u6587", "\U0001f600x", "longer than the others"]
        self.expect(np.array(words), words)
        self.expect(np.array(words)[::-2], words[::-2])
        self.expect(np.array(words, dtype=object), words)
        self.expect(np.array([w.encode() for w in words]), words)
        self.expect(np.array(words)[2], "caf\u00e9")
        if hasattr(np.dtypes, "StringDType"):
            self.expect(np.array(words, dtype=np.dtypes.StringDType()), words)

    def test_bytes(self):
        f = Filter("bloom:memory=64K,k=7,keys=bytes")
        words = [b"a", b"longer", b"\xff\0x"]
        np.testing.assert_array_equal(f.hashes(np.array(words)), f.hashes(words))
        np.testing.assert_array_equal(f.hashes(np.array(words)[::-1]), f.hashes(words[::-1]))

    def test_results(self):
        answer = self.f.add(np.arange(10))
        self.assertEqual((answer.dtype, answer.any()), (np.dtype(bool), False))
        answer[0] = True  # it is the caller's
        self.assertTrue(self.f.seen(np.arange(10)).all())
        c = Filter("spectral:memory=64K")
        c.update(np.array([1, 1, 2]), value=np.array([5, 6, 7], dtype=np.int32))
        np.testing.assert_array_equal(c.count(np.array([1, 2, 3])), [11.0, 7.0, 0.0])
        self.assertEqual(c.count(np.int64(1)), 11.0)
        self.assertEqual(c.count(["1"]).dtype, np.float64)

    def test_numbers_as_numbers(self):
        f, g = Filter("bloom:memory=64K,k=5,keys=i64"), Filter("bloom:memory=64K,k=5,keys=i64")
        f.update(np.arange(-1000, 1000))
        g.update(np.arange(-1000, 1000, dtype=np.int16))
        self.assertEqual(f.dumps(), g.dumps())
        self.assertIn("-1000", f)
        with self.assertRaises(Error) as caught:
            f.update(np.array([1, 2**63], dtype=np.uint64))
        self.assertEqual((caught.exception.status, caught.exception.at), ("EKEY", 1))

    def test_what_is_refused(self):
        for wrong in (np.array([1.5]), np.array([True]), np.zeros((2, 2), int), np.array(["2026-01-01"], "M8[D]")):
            self.assertRaises((TypeError, ValueError), self.f.add, wrong)
        self.assertRaises(TypeError, self.f.add, np.datetime64("2026-01-01"))
        self.assertRaises(ValueError, self.f.add, np.array(["\ud800"]))
        self.assertEqual(self.f.stats().adds, 0)

    def test_times(self):
        f = Filter("window:memory=64K,window=10000,unit=time,fpr=0.001")
        times = np.array(["2026-01-01T00:00:00", "2026-01-01T00:00:05.5", "2026-01-01T00:01:00"], "M8[ns]")
        self.assertEqual(f.add(["a", "a", "a"], time=times).tolist(), [False, True, False])
        self.assertEqual(f.stats().clock, times[2].astype("M8[ms]").astype(int))
        self.assertTrue(f.seen("a", time=np.datetime64("2026-01-01T00:01:01")))
        self.assertTrue(f.seen("a", time=datetime.datetime(2026, 1, 1, 0, 1, 1)))
        self.assertRaises(ValueError, f.add, ["a"], time=np.array(["NaT"], "M8[ns]"))
        self.assertRaises(ValueError, f.add, ["a"], time=np.array([-1.0]))
        g = Filter("window:memory=64K,window=10,unit=time,fpr=0.001")
        self.assertEqual(g.add(["a", "a"], time=np.array([0.5, 10.9])).tolist(), [False, True])


@unittest.skipUnless(pa and np, "pyarrow is not installed")
class Arrow(unittest.TestCase):
    def setUp(self):
        self.f = Filter("bloom:memory=64K,k=7,seed=1")

    def expect(self, keys, texts):
        np.testing.assert_array_equal(self.f.hashes(keys), self.f.hashes(texts))

    def test_strings(self):
        words = ["", "a", "caf\u00e9", "longer than twelve bytes", "b"] * 3
        for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view()):
            a = pa.array([w.encode() for w in words] if "bin" in str(kind) else words, kind)
            self.expect(a, words)
            self.expect(a[3:9], words[3:9])
            self.expect(pa.chunked_array([a[:4], a[4:4], a[4:]]), words)
        self.expect(pa.array(words).dictionary_encode(), words)
        self.expect(pa.array(words).dictionary_encode()[2:5], words[2:5])
        self.expect(pa.array([], pa.string()), [])
        self.expect(pa.chunked_array([], pa.string()), [])

    def test_numbers(self):
        for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()):
            a = pa.array([0, 1, 100, 7], kind)
            self.expect(a, ["0", "1", "100", "7"])
            self.expect(a[1:3], ["1", "100"])

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "key 2 is null"):
            self.f.add(pa.array(["a", "b", None]))
        with self.assertRaisesRegex(ValueError, "key 3 is null"):
            self.f.add(pa.chunked_array([["a", "b"], ["c", None]]))
        self.assertRaises(TypeError, self.f.add, pa.array([1.5]))
        self.assertRaises(TypeError, self.f.add, pa.array([[1]]))
        self.assertEqual(self.f.stats().adds, 0)

    def test_strings_are_no_bytes(self):
        self.assertRaises(TypeError, Filter("bloom:memory=1K,k=3,keys=bytes").add, pa.array(["a"]))


if __name__ == "__main__":
    unittest.main()
