"""Threads: one writer or many readers; whoever comes in between gets an exception, and nothing is torn."""

import sys
import threading
import unittest

from everbloom import BusyError, Filter

THREADS = 16


def on_threads(work):
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as e:  # told in the main thread
            failures.append(e)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class Threads(unittest.TestCase):
    def setUp(self):
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)

    def tearDown(self):
        sys.setswitchinterval(self.interval)

    def test_one_filter(self):
        f = Filter("spectral:memory=256K")
        keys = [[f"{n}-{i}" for i in range(2000)] for n in range(THREADS)]
        added, busy = [0] * THREADS, [0] * THREADS

        def work(n):
            for i in range(30):
                try:
                    if i % 3 == 0:
                        f.update(keys[n])
                        added[n] += 2000
                    elif i % 3 == 1:
                        f.add(keys[n][i])
                        added[n] += 1
                    else:
                        f.count(keys[n])
                        f.stats()
                        f.dumps()
                except BusyError:
                    busy[n] += 1

        on_threads(work)
        self.assertEqual(f.stats().adds, sum(added))
        Filter.loads(f.dumps())

    def test_many_filters(self):
        specs = ["lru:memory=64K,seed=1", "spectral:memory=64K", "bloom:memory=64K,k=5", "stable:memory=64K,fpr=0.01,seed=1"]
        wanted = {}
        for spec in specs:
            f = Filter(spec)
            f.update(str(i) for i in range(3000))
            wanted[spec] = f.dumps()

        def work(n):
            spec = specs[n % len(specs)]
            for _ in range(10):
                f = Filter(spec)
                f.update([str(i) for i in range(3000)])
                if f.dumps() != wanted[spec] or Filter.loads(f.dumps()).dumps() != wanted[spec]:
                    raise AssertionError(f"threads changed what {spec} holds")

        on_threads(work)

    def test_many_readers(self):
        f = Filter("bloom:memory=256K,k=5")
        words = [str(i) for i in range(5000)]
        f.update(words)

        def work(n):
            for _ in range(10):
                if not all(f.seen(words)) or str(n) not in f:
                    raise AssertionError("a key is missing")
                f.copy().add("x")

        on_threads(work)

    def test_a_writer_excludes_others(self):
        """A collection whose conversion runs Python code can try, while the batch itself is not yet running."""
        f = Filter("bloom:memory=64K,k=5")

        class Asks:
            def __index__(self):
                f.add("inside")  # the filter is not yet being written
                return 1

        f.add([Asks()])
        self.assertIn("inside", f)
        # Twice the same filter: the second use must not wait for the first.
        busy = threading.Event()
        seen = []

        def hammer():
            big = [str(i) for i in range(300000)]
            while not busy.is_set():
                try:
                    f.update(big)
                except BusyError as e:
                    seen.append(e)
                    busy.set()

        threads = [threading.Thread(target=hammer) for _ in range(2)]
        for thread in threads:
            thread.start()
        busy.wait(20)  # on one slow core they might never meet
        busy.set()
        for thread in threads:
            thread.join()
        for e in seen:
            self.assertIn("another thread", str(e))


if __name__ == "__main__":
    unittest.main()
