#!/usr/bin/env bash
# bench/demo.sh BUILD - the main job on a sample: a million log lines, half of them repeats, are
# de-duplicated in one pass, and the result is compared with the truth that the generator knows.
set -euo pipefail
B=$1
out=$B/demo
mkdir -p "$out"
export LC_ALL=C

"$B/everbloom-gen" --lines 1e6 --count >"$out/sample.log" 2>"$out/truth"
read -r _ lines _ unique <"$out/truth"
echo "A sample stream of $lines log lines, $unique of them distinct.  The first:"
sed 's/^/    /; q' "$out/sample.log"
echo
echo '    $ ulimit -v 131072    # 128 MiB, to show that memory is bounded'
echo '    $ everbloom dedup --stats sample.log >unique.log'
(
    ulimit -v 131072
    exec "$B/everbloom" dedup --stats "$out/sample.log" 2>&1 >"$out/unique.log"
) | sed 's/^/    /'

kept=$(wc -l <"$out/unique.log")
distinct=$(sort -u "$out/unique.log" | wc -l)
lost=$((unique - distinct)) passed=$((kept - distinct))
echo
echo "Against the truth: of $unique distinct lines $lost were lost, of $((lines - unique)) repeats $passed got through."
echo "The lines are in $out/unique.log; next: $B/everbloom --help"

# The filter is made for 1 error in a million and is hardly filled: 1 in 100000 is a failure.
[ $((lost * 100000)) -le "$unique" ] && [ $((passed * 100000)) -le $((lines - unique)) ]
