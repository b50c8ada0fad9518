"""npm redis for tests in node: None, aloud, where it cannot be had."""

import os
import shutil
import subprocess

PACKAGE = "redis@5.8.2"


def modules():
    folder = os.path.abspath("build/npm")
    found = os.path.join(folder, "node_modules")
    if shutil.which("node") and os.path.isdir(os.path.join(found, "redis")):
        return found
    if not shutil.which("node") or not shutil.which("npm"):
        print("redis: NO NODE OR NPM HERE: its client is skipped")
        return None
    os.makedirs(folder, exist_ok=True)
    got = subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", PACKAGE],
                         capture_output=True, text=True)
    if got.returncode != 0:
        print(f"redis: {PACKAGE} COULD NOT BE INSTALLED: its client is skipped\n{got.stderr[-500:]}")
        return None
    return found
