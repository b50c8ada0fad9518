"""Memory is returned: after many makings, failures and conversions the process is as large as before."""

import gc
import os
import unittest

from everbloom import Error, Filter

ROUNDS = int(os.environ.get("EVERBLOOM_ROUNDS", "100000"))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(unittest.TestCase):
    def check(self, work, rounds):
        for _ in range(rounds // 10 + 1):
            work()
        gc.collect()
        before = resident()
        for _ in range(rounds):
            work()
        gc.collect()
        # A leak of 48 bytes a round is 4.8 MB in 10^5 rounds; an allocator may keep a little.
        self.assertLess(resident() - before, max(2 << 20, 16 * rounds))

    def test_create_and_destroy(self):
        self.check(lambda: Filter("bloom:cells=513,k=3"), ROUNDS)

    def test_snapshots(self):
        snapshot = Filter("bloom:cells=513,k=3").dumps()

        def work():
            Filter.loads(snapshot).dumps()
            Filter.view(snapshot).copy()

        self.check(work, ROUNDS // 10)

    def test_failures(self):
        f = Filter("spectral:memory=64K")

        def work():
            for call in (lambda: Filter("bloom:k=x"), lambda: Filter.loads(b"x"), lambda: f.add([1, 2.5]),
                         lambda: f.add([10**30, None]), lambda: f.update(["a"], value=[1, 2]),
                         lambda: f.add(["a"], time="x")):  # fmt: skip
                try:
                    call()
                except (Error, TypeError, ValueError, AttributeError):
                    pass

        self.check(work, ROUNDS // 30)

    def test_batches(self):
        f = Filter("spectral:memory=64K")
        keys = [10**30, "caf\u00e9", b"x", 7, bytearray(b"y")] * 100

        def work():
            f.add(keys)
            f.estimate(keys[:5])
            f.hashes(keys)
            f.stats()
            f.caps

        self.check(work, ROUNDS // 100)


if __name__ == "__main__":
    unittest.main()
