#!/usr/bin/env bash
# bench/demo.sh BUILD - the main job on a sample: a million log lines, half of them delivered
# twice, de-duplicated in one pass and compared with the truth that the generator knows.
set -eu
B=$1
out=$B/demo
mkdir -p "$out"
[ -x "$B/everbloom" ] || { echo "everbloom: the command is not there yet"; exit 0; }

"$B/everbloom-gen" --lines 1e6 --count >"$out/sample.log" 2>"$out/truth"
read -r _ lines _ unique <"$out/truth"
echo "A sample of $lines log lines, $unique of them distinct; the first:"
sed -n '1s/^/    /p' "$out/sample.log"
echo
echo '$ everbloom dedup --stats sample.log >unique.log'
"$B/everbloom" dedup --stats "$out/sample.log" >"$out/unique.log"
kept=$(wc -l <"$out/unique.log")
repeats=$(sort "$out/unique.log" | uniq -d | wc -l)
echo
echo "kept $kept lines; exactly right would be $unique"
echo "new lines lost:    $((unique - kept + $(sort "$out/unique.log" | uniq -c | awk '{ s += $1 - 1 } END { print s + 0 }')))"
echo "repeats let pass:  $repeats"
