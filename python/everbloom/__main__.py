"""python -m everbloom: the command."""

import os
import sys

from . import _everbloom


def main():
    _everbloom._command([os.fsencode(word) for word in ["everbloom", *sys.argv[1:]]])


if __name__ == "__main__":
    main()
