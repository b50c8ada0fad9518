"""npm redis, unchanged, on RESP2 and RESP3: known.mjs.  Skipped, aloud, where the package cannot be had."""

import os
import subprocess
import sys

import npm
from harness import Server

modules = npm.modules()
if not modules:
    sys.exit(0)
with Server("node") as s:
    env = {**os.environ, "NODE_MODULES": modules}
    subprocess.run(["node", "tests/redis/known.mjs", str(s.port)], check=True, env=env, timeout=120)
    s.alive()
