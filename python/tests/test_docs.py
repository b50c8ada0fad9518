"""The examples of docstrings run, and so does the command."""

import doctest
import os
import subprocess
import sys
import tempfile
import unittest

import everbloom


class Command(unittest.TestCase):
    def run_command(self, *words, **more):
        return subprocess.run([sys.executable, "-m", "everbloom", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def test_dedup(self):
        done = self.run_command("dedup", "-m", "1M", input=b"a\nb\na\n")
        self.assertEqual((done.stdout, done.returncode), (b"a\nb\n", 0), done.stderr)

    def test_version_and_misuse(self):
        self.assertIn(everbloom.__version__.encode(), self.run_command("--version").stdout)
        self.assertEqual(self.run_command("nonsense").returncode, 2)


def load_tests(loader, tests, pattern):
    home = os.getcwd()
    extra = {"Filter": everbloom.Filter, "join": everbloom.join}

    def set_up(test):
        test.folder = tempfile.TemporaryDirectory()
        os.chdir(test.folder.name)

    def tear_down(test):
        os.chdir(home)
        test.folder.cleanup()

    for module in (everbloom, everbloom._everbloom):
        tests.addTests(doctest.DocTestSuite(module, extraglobs=extra, setUp=set_up, tearDown=tear_down))
    return tests


if __name__ == "__main__":
    unittest.main()
