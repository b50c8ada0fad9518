#!/usr/bin/env bash
# bench/before_after.sh OLD NEW [ROUNDS] [TEXT...] - two builds of everbloom-bench side by side.
#
# Runs them in turn, ROUNDS times (default: 3), on rows whose spec contains TEXT (default: the kinds whose
# speed is promised), and prints for each row that both have: the median nanoseconds a key of each build, their
# ratio, and the spread of OLD against itself: half the distance between its quartiles.  A ratio within the
# spread says nothing.
set -eu
old=$1 new=$2 rounds=${3:-3}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- bloom:memory lru:memory choosy:memory window:memory spectral:memory
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for ((round = 0; round < rounds; round++)); do
    for text in "$@"; do
        for side in old new; do
            "${!side}" --kinds --filter "$text" --raw "$dir/raw" >/dev/null
            awk -F '\t' -v OFS='\t' -v side="$side" '{ for (i = 3; i <= NF; i++) print side, $1, $2, $i }' \
                "$dir/raw" >>"$dir/all"
        done
    done
done
sort -t $'\t' -k2,2 -k3,3 -k1,1 -k4,4g "$dir/all" | awk -F '\t' '
function quantile(q) { return sample[int(1 + q * (n - 1) + 0.5)] }
function finish() {
    if (n == 0) return
    middle[key, side] = quantile(0.5)
    half[key, side] = (quantile(0.75) - quantile(0.25)) / 2
    if (!((key, "shown") in middle)) { order[++rows] = key; middle[key, "shown"] = 1 }
    n = 0
}
{ now = $2 "\t" $3
  if (now != key || $1 != side) { finish(); key = now; side = $1 }
  if ($4 + 0 > 0) sample[++n] = $4 + 0 }
END {
    finish()
    printf "%-34s %-12s %8s %8s %7s %7s\n", "filter", "series", "old ns", "new ns", "new/old", "spread"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        if (!((key, "old") in middle) || !((key, "new") in middle)) continue
        split(key, part, "\t")
        printf "%-34s %-12s %8.2f %8.2f %7.2f %6.0f%%\n", part[1], part[2], middle[key, "old"], middle[key, "new"],
               middle[key, "new"] / middle[key, "old"], 100 * half[key, "old"] / middle[key, "old"]
    }
}'
