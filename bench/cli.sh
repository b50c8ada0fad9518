#!/usr/bin/env bash
# bench/cli.sh BUILD RAW - how fast the command de-duplicates text, next to what people use.
#
# Each program reads a file from the page cache and writes into a pipe.  A first, untimed round
# counts the lines; then programs take turns.  Shown are medians over the rounds, the slowest and
# the fastest round, and the largest peak memory.  The raw samples go to RAW: text, program, seconds, peak KiB, lines out.
set -eu
B=$1 raw=$2
rounds=${ROUNDS:-5} bytes=${BYTES:-250000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$raw"
export LC_ALL=C

programs=(everbloom mawk sort cat)
command_of() {
    case $1 in
    everbloom) echo "$B/everbloom" dedup -q "$2" ;;
    mawk) echo mawk "'!s[\$0]++'" "$2" ;;
    sort) echo sort -u "$2" ;;
    cat) echo cat "$2" ;;
    esac
}

measure() { # measure PROGRAM FILE -> seconds, peak KiB
    local start=$EPOCHREALTIME
    eval "/usr/bin/time -q -o $work/peak -f %M $(command_of "$1" "$2")" | cat >/dev/null
    awk -v a="$start" -v b="$EPOCHREALTIME" '{ printf "%.6f %s\n", b - a, $1 }' "$work/peak"
}

for length in 100 20; do
    file=$work/$length
    "$B/everbloom-gen" -l "$length" -n $((bytes / length)) -r 0.5 >"$file"
    declare -A lines
    for p in "${programs[@]}"; do lines[$p]=$(eval "$(command_of "$p" "$file")" | wc -l); done
    for ((i = 0; i < rounds; i++)); do
        for p in "${programs[@]}"; do
            read -r seconds peak < <(measure "$p" "$file")
            printf '%s\t%s\t%s\t%s\t%s\n' "$length" "$p" "$seconds" "$peak" "${lines[$p]}" >>"$raw"
        done
    done
done

sort -k1,1rn -k2,2 -k3,3n "$raw" | awk -v bytes="$bytes" '
function flush(   mid, s) {
    if (!n) return
    mid = seconds[int((n + 1) / 2)]
    row[program] = sprintf("%8.3f %8.3f..%-8.3f", bytes / mid / 1e9, bytes / seconds[n] / 1e9, bytes / seconds[1] / 1e9)
    middle[program] = mid; peaks[program] = peak; out[program] = lines
    n = peak = 0
}
function table(   i, p, order, k) {
    printf "\nlines of %d bytes, half of them repeats, %d MB\n", length_, bytes / 1e6
    printf "%-12s %8s %18s %12s %10s %10s\n", "program", "GB/s", "slowest..fastest", "times cat", "peak MiB", "lines out"
    k = split("everbloom mawk sort cat", order, " ")
    for (i = 1; i <= k; i++) {
        p = order[i]
        printf "%-12s %s %12.3f %10.0f %10d\n", p, row[p], middle["cat"] / middle[p], peaks[p] / 1024, out[p]
    }
}
$2 != program || $1 != length_ { flush() }
length_ && $1 != length_ { table() }
{ length_ = $1; program = $2; seconds[++n] = $3; if ($4 > peak) peak = $4; lines = $5 }
END { flush(); table() }'
