#!/usr/bin/env bash
# bench/run.sh BUILD [everbloom-bench options] - all tables, shown and kept with what they were
# made on: bench/results/<date>-<machine>/.
set -eu
B=$1
shift
cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
machine=$(echo "${cpu:-$(uname -m)} $(nproc) cores" | tr -cs 'A-Za-z0-9.\n' '-')
dir=bench/results/$(date -u +%Y-%m-%d)-$machine
mkdir -p "$dir"

{
    echo "cpu       ${cpu:-$(uname -m)}, $(nproc) cores"
    lscpu 2>/dev/null | sed -n 's/^\(L[123][^:]*\) cache: */\1       /p'
    echo "memory    $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
    echo "kernel    $(uname -sr)"
    echo "compiler  $(${CC:-cc} --version | head -n 1)"
    echo "commit    $commit"
    echo "load      $(cut -d ' ' -f 1-3 /proc/loadavg) before the run"
} >"$dir/machine.txt"
cat "$dir/machine.txt"
"$B/everbloom-bench" --kinds --raw "$dir/kinds.tsv" "$@" | tee "$dir/kinds.txt"
for table in counters lines single hashing; do
    "$B/everbloom-bench" --$table --raw "$dir/$table.tsv" | tee "$dir/$table.txt"
done
bench/cli.sh "$B" "$dir/cli.tsv" | tee "$dir/cli.txt"
echo
echo "kept in $dir"
