#!/usr/bin/env python3
"""Corpora from the files of a Debian machine, and what others do with them: see corpus.sh.

    make OUT BYTES FOLDER...   JSON lines in OUT/documents, gzipped, of all text files
    set UNIT IN                a set of Python: documents, lines or ngrams
    datatrove IN OUT BYTES     its Bloom filter of 13-grams
"""
import glob
import gzip
import hashlib
import json
import os
import sys


def texts(folders):
    for root in folders:
        for folder, dirs, files in os.walk(root):
            dirs.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                try:
                    with (gzip.open if name.endswith(".gz") else open)(path, "rb") as f:
                        text = f.read(1 << 20).decode("utf-8")
                except (OSError, EOFError, UnicodeDecodeError):
                    continue
                if "\0" not in text and text.strip():
                    yield path, text


def make(out, most, *folders):
    os.makedirs(out + "/documents", exist_ok=True)
    number = size = total = count = 0
    file = None
    for path, text in texts(folders):
        if file is None or size > 16e6:
            if file:
                file.close()
            file = gzip.open("%s/documents/%03d.jsonl.gz" % (out, number), "wt", compresslevel=1)
            number, size = number + 1, 0
        line = json.dumps({"id": str(count), "source": "debian", "path": path, "text": text}, ensure_ascii=False) + "\n"
        file.write(line)
        size, total, count = size + len(line), total + len(line.encode()), count + 1
        if total > float(most):
            break
    file.close()
    print(total)


def key(text):  # 16 bytes: what a careful script keeps of a text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def units_of(text, unit):
    if unit == "documents":
        return [text]
    if unit == "lines":
        return [x for x in text.split("\n") if x.strip()]
    words = text.split()
    return [" ".join(words[i : i + 13]) for i in range(max(1, len(words) - 12))]


def with_set(unit, source):
    seen, kept = set(), 0
    for path in sorted(glob.glob(source + "/documents/*.gz")):
        with gzip.open(path, "rt") as f:
            for line in f:
                keys = [key(u) for u in units_of(json.loads(line)["text"], unit)]
                if sum(k in seen for k in keys) < 0.8 * len(keys):
                    seen.update(keys)
                    kept += 1
    print(kept)


def with_datatrove(source, out, size):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import SingleBloomFilter
    from datatrove.pipeline.dedup.bloom_filter import BloomFilterConfig
    from datatrove.pipeline.readers import JsonlReader

    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(source + "/documents"),
            SingleBloomFilter(out + "/filter", BloomFilterConfig(m_bytes=int(size), k=20, n_grams=13)),
        ],
        logging_dir=out + "/log",
        workers=1,
        skip_completed=False,
    ).run()


if __name__ == "__main__":
    {"make": make, "set": with_set, "datatrove": with_datatrove}[sys.argv[1]](*sys.argv[2:])
