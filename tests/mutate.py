#!/usr/bin/env python3
"""mutate.py - a test of the tests: break a line of src/, and see whether a test notices.

    tests/mutate.py [--count 150] [--seed 1] [--only TEXT] [--list]

Works on a copy of the tree under build/mutate/.  A mutation changes one operator or one number on one line.  The
lines are drawn with a fixed seed, so many from each folder that large folders have more and no folder has none.
For each one the library and its tests are built again and `make check` runs until the first failure:

    noticed    a test failed, or the line no longer compiles without a warning
    survived   everything passed: the line is not tested, or the change means nothing

The last line is the score.  --list prints the mutations and runs nothing; --only takes those in files whose path contains TEXT.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys

CHANGES = [
    (r"(?<![<>=!-])<=(?!=)", "<"), (r"(?<![<>=!-])>=(?!=)", ">"),
    (r" < ", " <= "), (r" > ", " >= "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" & ", " | "), (r" \| ", " & "), (r" \^ ", " | "),
    (r" << ", " >> "), (r" >> ", " << "), (r"\+\+", "--"), (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<![\w.\"])([1-9]\d?)(?![\w.\"])", None),
    (r"\bebi_min\b", "ebi_max"), (r"\bebi_max\b", "ebi_min"), (r"\bif \((?=\w)", "if (!"),
]


def sources(root):
    for folder, _, names in sorted(os.walk(os.path.join(root, "src"))):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), root)


def is_code(line):
    text = line.strip()
    return (text and not text.startswith(("/*", "*", "#", "//", "static_assert", "assert")) and '"' not in text
            and not text.endswith("*/"))


def candidates(root, path):
    """Every (line number, old line, new line) of a file."""
    found, comment = [], False
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if comment or not is_code(line):
                comment = (comment or "/*" in line) and "*/" not in line
                continue
            for pattern, new in CHANGES:
                for match in re.finditer(pattern, line):
                    text = new if new is not None else str(int(match.group(1)) + 1)
                    changed = line[:match.start()] + text + line[match.end():]
                    found.append((path, number, line.strip(), changed))
    return found


def draw(root, count, seed, only):
    by_folder = {}
    for path in sources(root):
        if only in path:
            by_folder.setdefault(os.path.dirname(path), []).extend(candidates(root, path))
    rng, total, chosen = random.Random(seed), sum(map(len, by_folder.values())), []
    for folder in sorted(by_folder):
        have = by_folder[folder]
        share = min(len(have), max(2, round(count * len(have) / total)))
        chosen += rng.sample(have, share)
    rng.shuffle(chosen)
    return chosen[:count]


def run(tree, *targets):
    command = ["make", "-s", "-j", str(os.cpu_count() or 2), *targets]
    return subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900).returncode == 0


def judge(tree, mutation):
    path, number, _, changed = mutation
    full = os.path.join(tree, path)
    with open(full, encoding="utf-8") as file:
        lines = file.readlines()
    saved = lines[number - 1]
    lines[number - 1] = changed
    with open(full, "w", encoding="utf-8") as file:
        file.writelines(lines)
    try:
        return "survived" if run(tree, "check") else "noticed"
    except subprocess.TimeoutExpired:
        return "noticed"
    finally:
        lines[number - 1] = saved
        with open(full, "w", encoding="utf-8") as file:
            file.writelines(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    chosen = draw(root, options.count, options.seed, options.only)
    if options.list:
        for path, number, old, new in chosen:
            print(f"{path}:{number}: {old}  ->  {new.strip()}")
        return 0
    tree = os.path.join(root, "build", "mutate")
    shutil.rmtree(tree, ignore_errors=True)
    names = subprocess.check_output(["git", "ls-files"], cwd=root, text=True).split()
    for name in names:
        os.makedirs(os.path.join(tree, os.path.dirname(name)), exist_ok=True)
        shutil.copy2(os.path.join(root, name), os.path.join(tree, name))
    if not run(tree, "check"):
        sys.exit("mutate: the tests fail without a mutation")
    noticed = 0
    for done, mutation in enumerate(chosen, 1):
        verdict = judge(tree, mutation)
        noticed += verdict == "noticed"
        path, number, old, new = mutation
        print(f"{done:4} {verdict:9} {path}:{number}: {old}  ->  {new.strip()}", flush=True)
    print(f"{noticed} of {len(chosen)} mutations were noticed: {100 * noticed / len(chosen):.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
