#!/usr/bin/env python3
"""Errors of everbloom corpus on text of this machine: wrong removals beside the promise, and near duplicates beside the
predicted curve.  corpus_errors.py EVERBLOOM [DOCUMENTS]"""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

from corpus_peers import texts

everbloom, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
random.seed(1)
work = tempfile.TemporaryDirectory()


def run(lines, *options):
    with open(work.name + "/in.jsonl", "w") as f:
        for text in lines:
            f.write(json.dumps({"text": text}) + "\n")
    command = [everbloom, "corpus", "in.jsonl", "-o", "out", "-q", "--force", *options]
    subprocess.run(command, cwd=work.name, check=True)
    with open(work.name + "/out/in.jsonl") as f:
        return [json.loads(line) for line in f]


def words(text):  # such that normalisation changes none of them
    return re.findall("[a-z0-9]+", text.lower())


documents = []
for path, text in texts(["/usr/share/doc", "/usr/lib/python3", "/usr/share/perl"]):
    w = words(text)
    if len(w) >= 300:
        documents.append(w[:300])
    if len(documents) == most:
        break

# Wrong removals: all lines of the machine's text once, as an exact set knows them; each that is gone is lost wrongly.
lines = list(dict.fromkeys(" ".join(d[i : i + 6]) for d in documents for i in range(0, 300, 6)))
print("promise   new lines   wrongly dropped   expected at most")
for promise in (1e-2, 1e-3, 1e-4):
    kept = run(lines, "--normalise", "none", "--max-drop", str(promise))
    lost, bound = len(lines) - len(kept), promise * len(lines)
    print("%-9g %-11d %-17d %.0f (+%.0f)" % (promise, len(lines), lost, bound, 3 * math.sqrt(bound)))

# Near duplicates: an edited copy of every document follows all documents.
vocabulary = sorted({w for d in documents for w in d})


def shingles(w):
    return {tuple(w[i : i + 5]) for i in range(len(w) - 4)}


# The bands and rows that --similarity 0.8 plans, as its documentation says them to be chosen.
def chance(s, b, r):
    return 1 - (1 - s**r) ** b


def planned(similarity):
    best = None
    for r in range(1, 65):
        for b in range(1, 256 // r + 1):
            p = [chance((i + 0.5) / 200, b, r) for i in range(200)]
            error = sum(x if (i + 0.5) / 200 < similarity else 1 - x for i, x in enumerate(p))
            if best is None or error < best[0]:
                best = (error, b, r)
    return best[1:]


bands, rows = planned(0.8)
documents = [list(d) for d in dict.fromkeys(tuple(d) for d in documents)]
fresh = {t["text"] for t in run([" ".join(d) for d in documents], "--unit", "near")}
documents = [d for d in documents if " ".join(d) in fresh]  # no near duplicates among the originals
other = [random.sample(vocabulary, 300) for _ in documents]
print("bands %d, rows %d; %d documents of 300 words" % (bands, rows, len(documents)))
print("words changed   similarity   found    predicted   error of a count")
for percent in (1, 2, 3, 5, 8, 12, 20, 30):
    copies, predicted, likeness = [], 0, 0
    for d in documents:
        copy = list(d)
        for i in random.sample(range(300), 300 * percent // 100):
            copy[i] = random.choice(vocabulary)
        a, b = shingles(d), shingles(copy)
        s = len(a & b) / len(a | b)
        predicted, likeness = predicted + chance(s, bands, rows), likeness + s
        copies.append(" ".join(copy))
    kept = {t["text"] for t in run([" ".join(d) for d in documents] + copies, "--unit", "near")}
    n = len(copies)
    found, share = sum(c not in kept for c in copies) / n, predicted / n
    print("%-15s %-12.3f %-8.3f %-11.3f %.3f" % ("%d %%" % percent, likeness / n, found, share, math.sqrt(max(share * (1 - share), 1e-9) / n)))
kept = run([" ".join(d) for d in documents] + [" ".join(o) for o in other], "--unit", "near")
print("unrelated texts dropped: %d of %d" % (len(documents) + len(other) - len(kept), len(other)))
