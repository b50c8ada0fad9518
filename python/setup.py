"""Builds the extension from the amalgamation (everbloom.c beside this file, in an sdist) or from the tree.

One binary serves CPython 3.8 and all later versions (the limited API).  The command is part of it, with the libraries that
are there for compressed files, regular expressions and Unicode.  EVERBLOOM_LIBRARY names a libeverbloom.a to link with instead of
compiling the library (position-independent, as `make` builds it).
"""

import os
import pathlib
import re
import subprocess
import sysconfig
import tempfile

from setuptools import Extension, setup

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE if (HERE / "cli").is_dir() else HERE.parent


def below(folder):
    return sorted(str(path.relative_to(HERE)) if ROOT == HERE else os.path.relpath(path, HERE)
                  for path in (ROOT / folder).rglob("*.c"))


def links(define, header, library):
    """Can a program use this library?"""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "try.c")
        source.write_text("#include <stddef.h>\n#include <stdio.h>\n#define PCRE2_CODE_UNIT_WIDTH 8\n"
                          f"#include <{header}>\nint main(void) {{ return 0; }}\n")
        return subprocess.run([*compiler, str(source), "-o", str(pathlib.Path(folder, "try")), f"-l{library}"],
                              stderr=subprocess.DEVNULL).returncode == 0


macros = [("Py_LIMITED_API", "0x03080000"), ("EB_API", ""), ("NDEBUG", None), ("main", "everbloom_main"),
          ("_GNU_SOURCE", None)]
libraries = ["m"]
for define, header, library in [("PCRE2", "pcre2.h", "pcre2-8"), ("ZLIB", "zlib.h", "z"), ("ZSTD", "zstd.h", "zstd"),
                                ("LZMA", "lzma.h", "lzma"), ("BZIP2", "bzlib.h", "bz2"), ("LZ4", "lz4frame.h", "lz4"),
                                ("UTF8PROC", "utf8proc.h", "utf8proc")]:
    if os.environ.get("EVERBLOOM_PLAIN") != "1" and links(define, header, library):
        macros.append(("HAVE_" + define, None))
        libraries.append(library)

ready = os.environ.get("EVERBLOOM_LIBRARY")
if ready:
    library = []
elif (HERE / "everbloom.c").exists():
    library = ["everbloom.c"]
else:
    library = below("src") if ROOT != HERE else []

header = (ROOT / "include/everbloom/everbloom.h").read_text()
setup(
    version=re.search('#define EB_VERSION "(.*)"', header).group(1),
    ext_modules=[
        Extension(
            "everbloom._everbloom",
            sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.c")) + below("cli") + library,
            include_dirs=[os.path.relpath(ROOT / folder, HERE) for folder in ("include", "include/everbloom", "src", "cli")],
            define_macros=macros,
            libraries=libraries,
            extra_objects=[ready] if ready else [],
            extra_compile_args=["-std=c11", "-fvisibility=hidden"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp38"}},
)
