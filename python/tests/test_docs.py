"""The examples of docstrings run, and so does the command."""

import ast
import doctest
import inspect
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
