"""The examples of docstrings run, and so does the command."""

import ast
import doctest
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

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


class Page(unittest.TestCase):
    """docs/PYTHON.md says what is true: its examples run, with the answers that stand beside them."""

    def setUp(self):
        home = os.getcwd()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, home)
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "PYTHON.md"), encoding="utf-8") as file:
            page = file.read()
        self.blocks = [re.sub("^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, flags=re.M)]
        os.chdir(folder.name)

    def follow(self, block, names):
        """Runs it; the values of the lines that are expressions."""
        values = []
        for node in ast.parse(block).body:
            code = ast.get_source_segment(block, node)
            if not isinstance(node, ast.Expr):
                exec(code, names)
                continue
            values.append(eval(code, names))
            told = re.match(r".*# (True|False|array\(.*\))", block.splitlines()[node.end_lineno - 1])
            if told:
                said = eval(told[1], {"array": list})
                self.assertEqual(said, list(values[-1]) if isinstance(said, list) else values[-1], code)
        return values

    def test_first(self):
        with open("access.log", "w") as file:
            file.write("a\nb\na\n")
        out = sys.stdout = io.StringIO()
        try:
            names = {"column": ["10.0.0.1", "10.0.0.2"], "bytes_sent": [500, 7]}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # it leaves its file open
                *_, count, saved = self.follow(self.blocks[0], names)
        finally:
            sys.stdout = sys.__stdout__
        self.assertEqual(("a\nb\n", 500), (out.getvalue(), count))
        self.assertEqual(500, everbloom.Filter.load("counts.eb").count("10.0.0.1"))

    def test_frames(self):
        try:
            import pandas as pd
            import polars as pl
        except ImportError:
            self.skipTest("no pandas or no polars")
        users = {"user": ["ann", "bob", "ann", "cy"]}
        pd.DataFrame(users).to_csv("huge.csv", index=False)
        names = {"pd": pd, "pl": pl, "out": io.StringIO()}
        for node in ast.parse(self.blocks[1]).body:
            code = ast.get_source_segment(self.blocks[1], node)
            names["seen"] = everbloom.Filter("lru:memory=1M")
            names["df"] = (pl if "pl." in code else pd).DataFrame(users)
            for value in self.follow(code.replace("1_000_000", "2"), names):
                self.assertEqual(["ann", "bob", "cy"], list(value["user"]))
        self.assertEqual(["user", "ann", "bob", "cy"], names["out"].getvalue().split())

    def test_others(self):
        names = {"everbloom": everbloom, "column": ["x"] * 600 + ["y"]}
        for name in "ab":
            names[name] = everbloom.Filter("spectral:memory=64K,update=plain")
            names[name].update(["x", "y"])
        _, most, iceberg, join, plans, curve, kinds = self.follow(self.blocks[2], names)
        self.assertEqual(("x", 600), tuple(most[0][:2]))
        self.assertEqual(["x"], [key for key, *_ in iceberg])
        self.assertGreaterEqual(join.upper, 2)
        self.assertGreater(len(plans), 1)
        self.assertEqual(3, len(curve.fpr))
        self.assertGreater(len(kinds), 10)
        self.assertEqual(3, len(self.blocks))


class Stubs(unittest.TestCase):
    def test_parameters(self):
        """What the type stubs say of functions and methods, help() and editors see as well."""
        with open(os.path.join(os.path.dirname(everbloom.__file__), "__init__.pyi")) as file:
            stubs = ast.parse(file.read()).body
        found = [(everbloom, node) for node in stubs if isinstance(node, ast.FunctionDef)]
        for kind in (everbloom.Filter, everbloom.Ranges, everbloom.Top):
            body = next(node.body for node in stubs if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
            found += [(kind, node) for node in body if isinstance(node, ast.FunctionDef) and node.name[:2] != "__"]
        self.assertGreater(len(found), 30)
        for place, node in found:
            marks = [mark.id for mark in node.decorator_list]
            if "property" in marks:
                continue
            told = [arg.arg for arg in node.args.args + node.args.kwonlyargs]
            real = list(inspect.signature(getattr(place, node.name)).parameters)
            if node.args.kwarg:
                told.append(node.args.kwarg.arg)
            self.assertEqual(told["classmethod" in marks :], real, node.name)


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
