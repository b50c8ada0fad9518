"""npm redis, unchanged, on RESP2 and RESP3: known.mjs.  Skipped, aloud, where the package cannot be had."""

import os
import shutil
import subprocess
import sys

from harness import Server

PACKAGE = "redis@5.8.2"
folder = os.path.abspath("build/npm")
modules = os.path.join(folder, "node_modules")

if not shutil.which("node") or not (os.path.isdir(os.path.join(modules, "redis")) or shutil.which("npm")):
    print("redis node: NO NODE OR NPM HERE: skipped")
    sys.exit(0)
if not os.path.isdir(os.path.join(modules, "redis")):
    os.makedirs(folder, exist_ok=True)
    got = subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", PACKAGE],
                         capture_output=True, text=True)
    if got.returncode != 0:
        print(f"redis node: {PACKAGE} COULD NOT BE INSTALLED: skipped\n{got.stderr[-500:]}")
        sys.exit(0)
with Server("node") as s:
    env = {**os.environ, "NODE_MODULES": modules}
    subprocess.run(["node", "tests/redis/known.mjs", str(s.port)], check=True, env=env, timeout=120)
    s.alive()
