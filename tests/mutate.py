#!/usr/bin/env python3
"""mutate.py - a test of the tests: break a line of src/, and see whether a test notices.

    tests/mutate.py [--count 150] [--seed 1] [--only TEXT] [--workers 2] [--list] [--again] [--rest] [--without TEST]

A mutation changes one operator or one number, or leaves out a statement.  It counts if it compiles without a warning and
gives other object code.  Every folder has its share, by the number of mutations that it allows, and no folder has fewer
than LEAST.  A mutation's rank comes from the seed and the text of its line, so a change elsewhere draws the same ones.
Lines that only fetch memory ahead of its use are left out: they change no answer.

Each worker has the library as a shared one, built with its asserts, so that a mutation costs one compilation and one
link; for a header, the tests that include it are compiled, too.  The tests of `make check` run until the first failure:
first test_golden and those whose names have a word of the file's path, the shortest before the others; last the scripts
of the command.  A test that does not call the function of the line cannot notice, and is left out: a run with
-finstrument-functions says who calls what.

    noticed    a test failed, or took far more processor time than without the mutation
    survived   everything passed: the line is not tested, or the change means nothing

Verdicts are kept in build/mutate/record, so that a run that was stopped goes on where it was; the verdict of a file that
changed since is not used.  --again judges survivors again, --rest lets also the long tests of `make test` judge them.
--list prints the mutations with what the record knows, --only takes those in files whose path contains TEXT.  --without
leaves a test out, and judges again what that test noticed: test_golden notices a change without knowing what is right.
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.chdir(ROOT)
WORK = "build/mutate"
BUILT = "build/release"
RECORD = os.path.join(WORK, "record")
CC = "cc -std=c11 -O2 -Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wvla -Werror -MMD -c".split()
LEAST = 4  # mutations of a folder
MORE_TIME, LEAST_SECONDS = 2, 5  # of processor time: so many times what a test takes with its calls noted, which is slow
LONG_SECONDS = 600  # of a long test
WAIT = 3600  # time on the wall, for a test that sleeps

CHANGES = [
    (r"(?<![<>=!-])<=(?!=)", "<"), (r"(?<![<>=!-])>=(?!=)", ">"),
    (r" < ", " <= "), (r" > ", " >= "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" & ", " | "), (r" \| ", " & "), (r" \^ ", " | "),
    (r" << ", " >> "), (r" >> ", " << "), (r"\+\+", "--"), (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<![\w.\"])([1-9]\d?)(?![\w.\"])", None),
    (r"\bebi_min\b", "ebi_max"), (r"\bebi_max\b", "ebi_min"), (r"\bif \((?=\w[^ ]*\) )", "if (!"),
    (r"(?<=^    )\s*(?:[\w\].>*[-]+ (?:[-+*|&^]|<<|>>)?= .*|[a-z]\w+\(.*\));$", ";"),
]
ALWAYS = [("src/api/plan.c", "x < y ? -1 : 1", "x < y ? 1 : -1")]  # the planner takes the worst offer
ONLY_SPEED = re.compile(r"prefetch|fetch_|_ahead|AHEAD|is_far|\bfar\b|__builtin_expect|unroll")

Mutation = collections.namedtuple("Mutation", "path number old new")  # lines without their ends


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def sources():
    for folder, _, names in sorted(os.walk("src")):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def is_code(line):
    text = line.strip()
    return (text and not text.startswith(("/*", "*", "#", "//", "static_assert", "assert")) and '"' not in text
            and not text.endswith("*/") and not ONLY_SPEED.search(text))


def mutations(path):
    comment = False
    for number, line in enumerate(read(path), 1):
        if comment or not is_code(line):
            comment = (comment or "/*" in line) and "*/" not in line
            continue
        code = line.split("/*")[0].rstrip()
        for pattern, new in CHANGES:
            for match in re.finditer(pattern, code):
                text = new if new is not None else str(int(match.group(1)) + 1)
                yield Mutation(path, number, line, line[:match.start()] + text + line[match.end():])


def shares(count, seed, only):
    """What to draw from each folder: how many, and all there are, in their order."""
    folders = {}
    for path in sources():
        if only in path:
            folders.setdefault(os.path.dirname(path), []).extend(mutations(path))
    total = sum(map(len, folders.values()))
    for folder, have in sorted(folders.items()):
        have.sort(key=lambda m: hashlib.sha256(f"{seed}:{m.path}:{m.old}:{m.new}".encode()).digest())
        for path, old, new in ALWAYS:
            if os.path.dirname(path) == folder and only in path:
                lines = [(number, line) for number, line in enumerate(read(path), 1) if old in line]
                if not lines:
                    sys.exit(f"mutate: {path} has no line with '{old}'")
                have.insert(0, Mutation(path, *lines[0], lines[0][1].replace(old, new)))
        yield folder, min(len(have), max(LEAST, round(count * len(have) / total))), have


class Record:
    """Verdicts, by mutation and the file that it was tried in."""

    def __init__(self, without):
        self.path = RECORD + "." + without if without else RECORD
        self.verdicts = {key: verdict for key, verdict in self.lines(RECORD) if not without or verdict != without}
        self.verdicts.update(self.lines(self.path))
        self.texts = {path: hashlib.sha256("\n".join(read(path)).encode()).hexdigest()[:16] for path in sources()}

    @staticmethod
    def lines(path):
        return [json.loads(line) for line in read(path)] if os.path.exists(path) else []

    def key(self, m):
        return f"{m.path}:{m.number}: {m.old.strip()}  ->  {m.new.strip()}  @{self.texts[m.path]}"

    def get(self, m):
        return self.verdicts.get(self.key(m))

    def set(self, m, verdict):
        self.verdicts[self.key(m)] = verdict
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([self.key(m), verdict]) + "\n")


running = set()


def run(command, seconds=LONG_SECONDS, **options):
    """Whether a command succeeds; each of its processes may take so many seconds of processor time."""
    limited = ["sh", "-c", f'ulimit -t {int(seconds) + 1}; exec "$@"', "sh", *command]
    child = subprocess.Popen(limited, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True, **options)
    running.add(child.pid)
    try:
        return child.wait(WAIT) == 0
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return child.wait() == 0
    finally:
        running.remove(child.pid)


def stop(*_):
    for pid in list(running):
        os.killpg(pid, signal.SIGKILL)
    os._exit(1)


def compile_unit(folder, unit, to, *flags):
    return run([*CC, *flags, "-D_DEFAULT_SOURCE", "-fPIC", "-Iinclude", "-Isrc", "-o", os.path.abspath(to), unit], cwd=folder)


def uses(object_):
    """The files that an object is made of, by the .d file beside it."""
    path = object_[:-1] + "d"
    return set(" ".join(read(path)).replace("\\", " ").split()) if os.path.exists(path) else set()


class Library:
    """Copies of src/ and include/ and their objects, compiled from the same relative paths as each worker compiles."""

    def __init__(self):
        self.folder = os.path.join(WORK, "base")
        os.makedirs(self.folder, exist_ok=True)
        changed = {path for path in [*sources(), "src/filter/kinds.def", *glob.glob("include/everbloom/*")]
                   if not os.path.exists(self.path(path)) or read(path) != read(self.path(path))}
        for folder in ("src", "include"):
            shutil.copytree(folder, self.path(folder), dirs_exist_ok=True)
        self.units = [path for path in sources() if path.endswith(".c")]
        for unit in self.units:
            used = uses(self.object(unit))
            if not os.path.exists(self.object(unit)) or changed & used or not used:
                print(f"compiling {unit}", flush=True)
                if not compile_unit(self.folder, unit, self.object(unit)):
                    sys.exit(f"mutate: {unit} does not compile")
            if not os.path.exists(self.called(unit)) or changed & used or not used:
                compile_unit(self.folder, unit, self.called(unit), *CALLS_FLAGS)
        self.users = {path: [unit for unit in self.units if path in uses(self.object(unit))] for path in sources()}

    def path(self, name):
        return os.path.join(self.folder, name)

    def object(self, unit):
        return self.path(unit[:-1] + "o")

    def called(self, unit):
        return self.path(unit[:-1] + "calls.o")


def programs():
    """Each test and the command: its sources and libraries."""
    def sources_of(pattern, but=()):
        return [path for path in sorted(glob.glob(pattern, recursive=True)) if path not in but]
    tests = sources_of("tests/test_*.c")
    helpers = sources_of("tests/*.c", [*tests, "tests/fuzz.c"])
    lab = sources_of("lab/**/*.c", ["lab/main.c"])
    for path in tests:
        more = lab if path in ("tests/test_lab.c", "tests/test_rivals.c") else []
        yield os.path.basename(path)[:-2], [path, *helpers, *more], ["-lcmocka"]
    yield "everbloom", sources_of("cli/**/*.c"), re.findall(r"-l\w\S*", "".join(read(BUILT + "/libraries.mk")))


class Worker:
    """A copy of src/ to mutate, and the programs linked with a library of its own."""

    def __init__(self, name, library, users):
        self.folder, self.library, self.users = os.path.join(WORK, name), library, users
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in ("src", "include"):
            shutil.copytree(library.path(folder), self.path(folder), ignore=shutil.ignore_patterns("*.o", "*.d"))
        self.link_library({})
        self.programs = {program: (parts, libraries) for program, parts, libraries in programs()}
        for program in self.programs:
            if not self.link(program, {}):
                sys.exit(f"mutate: {program} does not link")

    def path(self, name):
        return os.path.join(self.folder, name)

    def link_library(self, objects):
        return run(["cc", "-shared", "-o", self.path("libmutant.so"),
                    *(objects.get(unit, self.library.object(unit)) for unit in self.library.units), "-lm"])

    def link(self, program, objects):
        parts, libraries = self.programs[program]
        return run(["cc", "-o", self.path(program), *(objects.get(part, BUILT + "/" + part[:-1] + "o") for part in parts),
                    "-L" + self.folder, "-lmutant", "-Wl,-rpath," + os.path.abspath(self.folder), "-pthread", *libraries, "-lm"])

    def update(self, program, header):
        """Compiles what of a program includes a header."""
        defines = re.findall(r"-D\S+", "".join(read(BUILT + "/libraries.mk")))
        objects = {}
        for part in self.programs[program][0]:
            if header in self.users and part in self.users[header]:
                objects[part] = self.path("object-" + part.replace("/", "-")[:-1] + "o")
                if not run([*CC, "-D_GNU_SOURCE", "-pthread", "-Iinclude", "-I" + self.path("src"), "-Icli", "-Ilab", *defines,
                            "-o", objects[part], part]):
                    return False
        return not objects or self.link(program, objects)

    def passes(self, program, seconds, quick):
        environment = {name: value for name, value in os.environ.items() if name != "EVERBLOOM_QUICK"}
        if quick:
            environment["EVERBLOOM_QUICK"] = "1"
        command = [self.path(program)] if program != "everbloom" else ["tests/cli/run", self.path(program)]
        return run(command, seconds, env=environment)

    def build(self, m):
        """The changed objects; None if one does not compile."""
        objects = {}
        for unit in self.library.users[m.path]:
            new = self.path("object-" + unit.replace("/", "-")[:-1] + "o")
            if not compile_unit(self.folder, unit, new):
                return None
            with open(new, "rb") as after, open(self.library.object(unit), "rb") as before:
                if after.read() != before.read():
                    objects[unit] = new
        return objects

    def judge(self, m, order, quick_ones, long_ones):
        """The program that notices; "" if none does, None if the mutation is not real."""
        lines = read(self.path(m.path))
        with open(self.path(m.path), "w", encoding="utf-8") as file:
            file.write("\n".join(lines[:m.number - 1] + [m.new] + lines[m.number:]) + "\n")
        updated = []
        try:
            objects = self.build(m)
            if not objects or not self.link_library(objects):
                return None
            for quick in (True,) * quick_ones + (False,) * long_ones:
                for program, seconds in order(m):
                    if program not in updated:
                        updated.append(program)
                        if not self.update(program, m.path):
                            return None
                    if not self.passes(program, seconds if quick else LONG_SECONDS, quick):
                        return program if quick else "long " + program
            return ""
        finally:
            shutil.copyfile(self.library.path(m.path), self.path(m.path))
            if m.path.endswith(".h"):
                for program in updated:
                    self.link(program, {})


# Each function of the library marks its place; at the end the places are written, from the beginning of the library.
CALLS_FLAGS = ("-O1", "-finstrument-functions", "-Wno-error")
CALLS = """
#include <stdio.h>
#include <stdlib.h>
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
enum { MOST = 1 << 23 };
static char called[MOST];
void __cyg_profile_func_enter(char *f, void *from) { (void)from; called[f - __ehdr_start] = 1; }
void __cyg_profile_func_exit(char *f, void *from) { (void)f, (void)from; }
__attribute__((destructor)) static void write_calls(void) {
    FILE *const out = getenv("CALLS") ? fopen(getenv("CALLS"), "a") : NULL;
    for (long i = 0; out && i < MOST; i++) if (called[i]) fprintf(out, "%lx\\n", i);
    if (out) fclose(out);
}
"""


def first_run(worker):
    """Of each program, without a mutation: how many seconds it takes, and what functions it calls."""
    library, known = worker.library, os.path.join(WORK, "calls.json")
    parts = {BUILT + "/" + part[:-1] + "o" for program in worker.programs.values() for part in program[0]}
    newest = max(os.stat(path).st_mtime for path in [*map(library.called, library.units), *parts])
    if os.path.exists(known) and os.stat(known).st_mtime > newest:
        with open(known, encoding="utf-8") as file:
            return json.load(file)
    with open(os.path.join(WORK, "calls.c"), "w", encoding="utf-8") as file:
        file.write(CALLS)
    so = worker.path("libmutant.so")
    if not run(["cc", "-O2", "-fPIC", "-shared", "-o", so, os.path.join(WORK, "calls.c"), *map(library.called, library.units),
                "-lm"]):
        sys.exit("mutate: the library that tells what is called does not link")
    symbols = subprocess.run(["nm", "--defined-only", so], check=True, capture_output=True, text=True).stdout
    names = {int(line.split()[0], 16): line.split()[2].split(".")[0] for line in symbols.splitlines()}
    result = {}
    for program in worker.programs:
        calls = os.path.abspath(os.path.join(WORK, program + ".calls"))
        if os.path.exists(calls):
            os.remove(calls)
        os.environ["CALLS"] = calls
        before = os.times()
        if not worker.passes(program, LONG_SECONDS, True):
            sys.exit(f"mutate: {program} fails without a mutation")
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        places = {int(line, 16) for line in (read(calls) if os.path.exists(calls) else [])}
        result[program] = seconds, sorted({names[place] for place in places if place in names})
    del os.environ["CALLS"]
    worker.link_library({})
    with open(known, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return result


def function_of(m):
    """The function of a mutation's line; None if it is in none, but in a macro or a table."""
    for line in reversed(read(m.path)[:m.number]):
        if line.startswith(("}", "#")):
            return None
        if re.match(r"\w", line):
            name = re.search(r"(\w+)\(", line)
            return name.group(1) if name else None
    return None


def ordered(first, users, without):
    """The programs for a mutation, with the processor time that each may take."""
    known = {name for _, names in first.values() for name in names}  # others have their names from macros

    def order(m):
        words, function = set(re.split(r"\W|_", m.path)) - {"src", "c", "h", "filter"}, function_of(m)
        parts = {program: parts for program, parts, _ in programs()}

        def may_notice(program):
            called = function not in known or function in first[program][1] or users[m.path] & set(parts[program])
            return called and program != without

        def rank(program):
            return program == "everbloom", not (words | {"golden"}) & set(program.split("_")[1:]), first[program][0]
        return [(program, max(LEAST_SECONDS, MORE_TIME * first[program][0]))
                for program in sorted(filter(may_notice, first), key=rank)]
    return order


def real_ones(share, have, record):
    """The first of a folder's mutations that are real or not yet known."""
    real = [m for m in have if record.get(m) is not None or record.key(m) not in record.verdicts]
    return real[:share]


def judge_all(folders, options, record):
    library = Library()
    users = collections.defaultdict(set)
    for part in {part for _, parts, _ in programs() for part in parts}:
        for path in uses(BUILT + "/" + part[:-1] + "o"):
            users[path].add(part)
    workers = [Worker(f"worker{i}", library, users) for i in range(options.workers)]
    order = ordered(first_run(workers[0]), users, options.without)
    lock, tried = threading.Lock(), set()

    def next_one():
        with lock:
            drawn = [(m.path.endswith(".h"), i / share, m)
                     for _, share, have in folders for i, m in enumerate(real_ones(share, have, record))]
            for _, _, m in sorted(drawn):  # of each folder as far; headers, which cost more, last
                known = record.get(m)
                if m not in tried and (known is None or known == "" and (options.again or options.rest)):
                    tried.add(m)
                    return m
        return None

    def work(worker):
        while (m := next_one()) is not None:
            verdict = worker.judge(m, order, options.again or record.get(m) != "", options.rest)
            with lock:
                record.set(m, verdict)
                print(f"{told(verdict):24} {m.path}:{m.number}: {m.old.strip()}  ->  {m.new.strip()}", flush=True)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def told(verdict):
    return "not real" if verdict is None else f"noticed by {verdict}" if verdict else "survived"


def table(folders, record):
    rows = []
    for folder, share, have in folders:
        verdicts = [verdict for verdict in map(record.get, real_ones(share, have, record)) if verdict is not None]
        quick = sum(bool(verdict) and not verdict.startswith("long ") for verdict in verdicts)
        rows.append((folder, len(verdicts), quick, sum(map(bool, verdicts))))
    rows.append(("all", *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    print("\n| folder | mutations | noticed by `make check` | with the long tests |\n| --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(f"{100 * rows[-1][3] / max(rows[-1][1], 1):.1f} % were noticed; {sum(share for _, share, _ in folders)} were drawn")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--workers", type=int, default=2)
    for flag in ("--list", "--again", "--rest"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    os.nice(2)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    folders, record = list(shares(options.count, options.seed, options.only)), Record(options.without)
    if options.list:
        for _, share, have in folders:
            for m in real_ones(share, have, record):
                known = told(record.get(m)) if record.key(m) in record.verdicts else ""
                print(f"{known:24} {m.path}:{m.number}: {m.old.strip()}  ->  {m.new.strip()}")
    else:
        judge_all(folders, options, record)
    table(folders, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
