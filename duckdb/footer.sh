#!/bin/sh
# footer.sh VERSION <LIBRARY >EXTENSION: appends what DuckDB reads at the end of an extension: eight fields of 32 bytes, the first one last,
# and 256 bytes for a signature, which we have not.
set -eu
field() { printf %s "$1"; head -c $((32 - ${#1})) /dev/zero; }
case $(uname -m) in
x86_64) platform=linux_amd64 ;;
aarch64) platform=linux_arm64 ;;
*) echo "footer.sh: DuckDB has no name for the platform $(uname -m)" >&2 && exit 1 ;;
esac
cat
# what the extension uses, its version, the least version of DuckDB's C interface, the platform, the version of this list
for text in '' '' '' C_STRUCT "$1" v1.2.0 $platform 4; do field "$text"; done
head -c 256 /dev/zero
