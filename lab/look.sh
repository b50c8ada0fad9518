#!/usr/bin/env bash
# look.sh [RECORDS] - what dedup makes of streams whose order it is not told: the kind it takes after
# its look at the first lines, new lines lost and repeats passed.  Prints a table; exit status 1 if
# more is lost than allowed (three standard errors).
set -eu
build=${BUILD:-build/release} records=${1:-819200} memory=64K broken=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams='shuf:3 shuf:10 zipf0.2:10 zipf0.3:10 zipf0.5:10 zipf0.7:10 zipf1.0:10 zipf1.2:10 loop:1.65 loop:10
    twoshuf:10 passes:10 unif:0.8 exp:1 par:0.03 burst:0.8 burst:8 drift:0.1 hot:1.5 near:2 oldhot:2 scan:10'
echo '| stream | max drop | kind | lost % | passed % |'
echo '| --- | ---: | --- | ---: | ---: |'
for stream in $streams; do
    "$build/everbloom-lab" stream "$stream" --slots 20480 --records "$records" >"$work/lines"
    read -r items distinct < <(awk '{ d += !had[$1]++ } END { print NR, d }' "$work/lines")
    for drop in 0.1 0.01; do
        "$build/everbloom" dedup --items "$items" --distinct "$distinct" -m $memory --max-drop $drop \
            --seed 1 --mark --json "$work/lines" >"$work/marked" 2>"$work/told"
        awk -v name="$stream" -v drop=$drop -v kind="$(sed 's/.*"filter":"//; s/:.*//' "$work/told")" '
            { new = !had[$2]++; all[new]++; wrong[new] += $1 == new }
            END {
                lost = wrong[1] / all[1]; passed = all[0] ? wrong[0] / all[0] : 0
                printf "| %s | %s | %s | %.3g | %.3g |\n", name, drop, kind, 100 * lost, 100 * passed
                exit lost > drop + 3 * sqrt(drop / all[1])
            }' "$work/marked" || broken=1
    done
done
exit $broken
