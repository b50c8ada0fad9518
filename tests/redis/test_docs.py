"""docs/REDIS.md says what is true: its examples run, with the replies that it shows, and it names every command."""

import os
import re
import subprocess
import tempfile

import npm
import redis
from harness import BUILD, MODULE, Server, same

with open("docs/REDIS.md") as f:
    TEXT = f.read()
BLOCKS = [re.sub(r"^    ", "", block, flags=re.M) for block in re.findall(r"(?:(?<=\n\n)|\A)((?:    .*\n|\n(?=    ))+)", TEXT)]
ran = {"session": 0, "python": 0, "node": 0, "shell": 0}


def session(s, block):
    """Commands behind "> ", and what redis-cli prints for them."""
    for command, reply in re.findall(r"^> (.*)\n((?:(?!> ).*\n)*)", block, flags=re.M):
        got = subprocess.check_output(["redis-cli", "--no-raw", "-p", str(s.port), *command.split()], text=True)
        same(got.strip(), reply.strip())
        ran["session"] += 1


def comments(block, mark):
    """What an example says beside a line that it prints: "# 1: new"."""
    return re.findall(rf"^(.*?)\s*{mark} (\w+):.*$", block, flags=re.M)


def python(s, block):
    names = {}
    client = redis.Redis
    redis.Redis = lambda: client("127.0.0.1", s.port)
    said = dict((line.strip(), value) for line, value in comments(block, "#"))
    try:
        for line in block.splitlines():
            code = line.split("  #")[0].strip()
            if code in said:
                same(str(eval(code, names)), said[code])
                ran["python"] += 1
            else:
                exec(code, names)
    finally:
        redis.Redis = client


def node(s, block):
    modules = npm.modules()
    if not modules:
        return
    for line, value in comments(block, "//"):
        block = block.replace(line, f"assert.equal({line.strip().rstrip(';')}, {value});")
    block = block.replace("createClient()", f'createClient({{ url: "redis://127.0.0.1:{s.port}" }})')
    block = block.replace('import { createClient } from "redis";', 'const { createClient } = require("redis");')
    head = ('import assert from "node:assert/strict";\nimport { createRequire } from "node:module";\n'
            'const require = createRequire(process.env.NODE_MODULES + "/");\n')
    subprocess.run(["node", "--input-type=module", "-"], input=head + block + "\nclient.destroy();\n", text=True, check=True,
                   env={**os.environ, "NODE_MODULES": modules}, timeout=60)
    ran["node"] += 1


def shell(s, block, folder):
    """The command, on files that are there; every port is the server's."""
    for line in block.splitlines():
        line = re.sub(r"localhost:\d+", f"127.0.0.1:{s.port}", line)
        subprocess.run(line, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "PATH": os.path.abspath(BUILD) + ":" + os.environ["PATH"]})
        ran["shell"] += 1


with Server("docs") as s, tempfile.TemporaryDirectory() as folder:
    for name, lines in (("access.log", ["/index", "/index", "/about"]), ("other.log", ["/index", "/none"]),
                        ("seen.eb", [])):
        with open(os.path.join(folder, name), "w") as f:
            f.write("".join(line + "\n" for line in lines))
    subprocess.run([os.path.abspath(BUILD) + "/everbloom", "add", "--filter", "lru:memory=64K", "-o",
                    os.path.join(folder, "seen.eb"), os.path.join(folder, "access.log")], check=True)
    for block in BLOCKS:
        s("FLUSHALL")
        if block.startswith("> "):
            session(s, block)
        elif block.startswith("import redis"):
            python(s, block[: block.index("import {")] if "import {" in block else block)
            if "import {" in block:
                s("FLUSHALL")
                node(s, block[block.index("import {") :])
        elif block.startswith("import {"):
            node(s, block)
        elif block.startswith("everbloom "):
            shell(s, block, folder)
        else:  # how to load it: the server that runs here was started so
            assert "--loadmodule build/release/" + os.path.basename(MODULE) in block, block
    assert ran["session"] >= 2 and ran["python"] >= 1 and ran["shell"] >= 6, ran

    # Commands: each one is named, and each name is a command.
    listed = ["redis-cli", "-p", str(s.port), "COMMAND", "LIST", "FILTERBY", "MODULE", "everbloom"]  # redis-py cannot read it
    known = set(subprocess.check_output(listed, text=True).upper().split())
    assert len(known) > 40, known
    named = set(re.findall(r"\b(?:EB|BF|CMS|TOPK|CF)\.[A-Z]+\b", TEXT))
    for family, words in re.findall(r"`(BF|CMS|TOPK|CF)\.([A-Z ]+)`", TEXT):
        named |= {f"{family}.{word}" for word in words.split()}
    same(sorted(named - known), [])
    same(sorted(known - named), [])
    # And so with settings.
    settings = set(s.r.config_get("everbloom.*"))
    same(sorted(settings - set(re.findall(r"everbloom\.[a-z-]+", TEXT))), [])
    s.alive()
