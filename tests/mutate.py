#!/usr/bin/env python3
"""mutate.py - a test of the tests: break a line of src/, and see whether a test notices.

    tests/mutate.py [--count 150] [--seed 1] [--only TEXT] [--skip N] [--list]

A mutation changes one operator or one number on one line.  The lines are drawn with a fixed seed, so many from each
folder that large folders have more and no folder has none; ALWAYS names some that are never left out.  Lines that only
fetch memory ahead of its use are left out: they change no answer.

The mutated library is built with its asserts under build/mutate/, as a shared library that the tests of build/release/
load, so that a mutation costs one compilation and one link.  The quick tests run until the first failure, those first
whose names have a word of the file's path; if all pass, the tests of the command run.

    noticed    a test failed or took too long, or the line no longer compiles without a warning
    survived   everything passed: the line is not tested, or the change means nothing

The last line is the score.  --list prints the mutations and runs nothing; --only takes those in files whose path
contains TEXT; --skip leaves out the first ones.
"""
import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "build", "mutate")
BUILT = os.path.join(ROOT, "build", "release")
FLAGS = ("-std=c11 -D_DEFAULT_SOURCE -O1 -fPIC -Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wvla -Werror").split()
SECONDS = 120  # for one test
LABORATORY = ("test_lab", "test_rivals")  # tests of other programs

CHANGES = [
    (r"(?<![<>=!-])<=(?!=)", "<"), (r"(?<![<>=!-])>=(?!=)", ">"),
    (r" < ", " <= "), (r" > ", " >= "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" & ", " | "), (r" \| ", " & "), (r" \^ ", " | "),
    (r" << ", " >> "), (r" >> ", " << "), (r"\+\+", "--"), (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<![\w.\"])([1-9]\d?)(?![\w.\"])", None),
    (r"\bebi_min\b", "ebi_max"), (r"\bebi_max\b", "ebi_min"), (r"\bif \((?=\w)", "if (!"),
]
ALWAYS = [("src/api/plan.c", "x < y ? -1 : 1", "x < y ? 1 : -1")]  # the planner takes the worst offer
ONLY_SPEED = re.compile(r"prefetch|fetch_|_ahead|AHEAD|is_far|\bfar\b|__builtin_expect|unroll")


def sources():
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def is_code(line):
    text = line.strip()
    return (text and not text.startswith(("/*", "*", "#", "//", "static_assert", "assert")) and '"' not in text
            and not text.endswith("*/") and not ONLY_SPEED.search(text))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.readlines()


def candidates(path):
    """Every (path, line number, old line, new line) of a file."""
    found, comment = [], False
    for number, line in enumerate(read(os.path.join(ROOT, path)), 1):
        if comment or not is_code(line):
            comment = (comment or "/*" in line) and "*/" not in line
            continue
        code = line.split("/*")[0]
        for pattern, new in CHANGES:
            for match in re.finditer(pattern, code):
                text = new if new is not None else str(int(match.group(1)) + 1)
                found.append((path, number, line.strip(), line[:match.start()] + text + line[match.end():]))
    return found


def always(path, old, new):
    for number, line in enumerate(read(os.path.join(ROOT, path)), 1):
        if old in line:
            return path, number, line.strip(), line.replace(old, new)
    sys.exit(f"mutate: {path} has no line with '{old}'")


def draw(count, seed, only):
    by_folder = {}
    for path in sources():
        if only in path:
            by_folder.setdefault(os.path.dirname(path), []).extend(candidates(path))
    rng, total, chosen = random.Random(seed), sum(map(len, by_folder.values())), []
    for folder in sorted(by_folder):
        have = by_folder[folder]
        chosen += rng.sample(have, min(len(have), max(2, round(count * len(have) / total))))
    rng.shuffle(chosen)
    named = [always(*mutation) for mutation in ALWAYS if only in mutation[0]]
    return named + chosen[:max(count - len(named), 0)]


def quietly(command, **options):
    """Whether a command succeeds, in time."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, **options).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Library:
    """The library in WORK, of a copy of src/."""

    def __init__(self):
        shutil.rmtree(WORK, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "src"), os.path.join(WORK, "src"))
        self.units = sorted(path for path in sources() if path.endswith(".c"))
        if not all(self.compile(unit) for unit in self.units) or not self.link():
            sys.exit("mutate: the library does not build")
        self.uses = {unit: open(self.object(unit)[:-1] + "d", encoding="utf-8").read() for unit in self.units}

    def object(self, unit):
        return os.path.join(WORK, unit[:-1] + "o")

    def compile(self, unit):
        return quietly(["cc", *FLAGS, "-I" + os.path.join(ROOT, "include"), "-Isrc", "-MMD", "-c", "-o",
                        self.object(unit), unit], cwd=WORK)

    def link(self):
        return quietly(["cc", "-shared", "-o", os.path.join(WORK, "libmutant.so"),
                        *map(self.object, self.units), "-lm"])

    def build(self, path):
        return all(self.compile(unit) for unit in self.units if path in self.uses[unit]) and self.link()


class Tests:
    """The quick tests and the command, which load the library in WORK."""

    def __init__(self):
        self.seconds = {}
        library = ["-L" + WORK, "-lmutant", "-Wl,-rpath," + WORK, "-pthread", "-lm"]
        for path in sorted(glob.glob(os.path.join(ROOT, "tests/test_*.c"))):
            name = os.path.basename(path)[:-2]
            built = os.path.join(BUILT, "tests", name + ".o")
            if name in LABORATORY:
                continue
            if not quietly(["cc", "-o", os.path.join(WORK, name), built, os.path.join(BUILT, "tests/helpers.a"),
                            *library, "-lcmocka"]):
                sys.exit(f"mutate: cannot link {name}")
            self.seconds[name] = 0
        command = glob.glob(os.path.join(BUILT, "cli/**/*.o"), recursive=True)
        with open(os.path.join(BUILT, "libraries.mk"), encoding="utf-8") as file:
            libraries = re.findall(r"-l\w[\w-]*", file.read())
        if not quietly(["cc", "-o", os.path.join(WORK, "everbloom"), *command, *library, *libraries]):
            sys.exit("mutate: cannot link the command")
        for name in self.seconds:
            start = time.monotonic()
            if not self.passes(name):
                sys.exit(f"mutate: {name} fails without a mutation")
            self.seconds[name] = time.monotonic() - start

    def passes(self, name):
        return quietly([os.path.join(WORK, name)], cwd=ROOT, timeout=SECONDS,
                       env=dict(os.environ, EVERBLOOM_QUICK="1"))

    def first_failure(self, path):
        words = set(re.split(r"\W|_", path)) - {"src", "c", "h", "filter"}
        near = {name: bool(words & set(name.split("_")[1:])) for name in self.seconds}
        for name in sorted(self.seconds, key=lambda name: (not near[name], self.seconds[name])):
            if not self.passes(name):
                return name
        if not quietly([os.path.join(ROOT, "tests/cli/run"), os.path.join(WORK, "everbloom")],
                       cwd=ROOT, timeout=5 * SECONDS):
            return "the command"
        return None


def judge(library, tests, mutation):
    path, number, _, changed = mutation
    full = os.path.join(WORK, path)
    lines = read(full)
    with open(full, "w", encoding="utf-8") as file:
        file.writelines(lines[:number - 1] + [changed] + lines[number:])
    try:
        return tests.first_failure(path) if library.build(path) else "the compiler"
    finally:
        with open(full, "w", encoding="utf-8") as file:
            file.writelines(lines)
        library.build(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = draw(options.count, options.seed, options.only)[options.skip:]
    if options.list:
        for path, number, old, new in chosen:
            print(f"{path}:{number}: {old}  ->  {new.strip()}")
        return 0
    library = Library()
    tests = Tests()
    noticed = 0
    for done, mutation in enumerate(chosen, 1):
        who = judge(library, tests, mutation)
        noticed += who is not None
        path, number, old, new = mutation
        verdict = f"noticed by {who}" if who else "survived"
        print(f"{done:4} {verdict:28} {path}:{number}: {old}  ->  {new.strip()}", flush=True)
    print(f"{noticed} of {len(chosen)} mutations were noticed: {100 * noticed / len(chosen):.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
