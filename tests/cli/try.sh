# try: the best filters for one's own lines, predicted and measured.
. "$EXPECT"
within() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }' || fail "$1 is not in $2..$3"; }
every() { grep -o "\"$1\":[^,}]*" out | cut -d : -f 2-; } # every KEY: all its values

# 200 000 lines of 40 000 keys in random order: shuffled, without skew; the formulas agree.
awk 'BEGIN { srand(7); for (i = 0; i < 200000; i++) print int(rand() * 40000) }' >even
everbloom try --json -m 16K --max-fpr 5% even
status_is 0; silent
[ "$(value order out)" = shuffled ] || fail "$(shown out)"
[ "$(value zipf out)" = 0 ] || fail "$(shown out)"
within "$(value distinct out)" 39000 40000
paste <(every fnr) <(every predicted_fnr) | awk '$1 > $2 * 1.15 + 0.002 || $1 < $2 * 0.85 - 0.002 { exit 1 }' || fail "$(shown out)"

# Each line again some 200 lines later: recent.
awk 'BEGIN { for (i = 0; i < 100000; i++) { print i; if (i >= 100) print i - 100 } }' >near
everbloom try --json -m 16K --max-fpr 1% near
[ "$(value order out)" = recent ] || fail "$(shown out)"
within "$(value gap_99 out)" 195 205
within "$(every fnr | head -n 1)" 0 0.001

# Fields, a sample, and the words for plan.
everbloom try --sample 1000 -m 4K even
status_is 0; silent
out_has '1000 lines, '; out_has "For 'everbloom plan': --items 1000 --distinct"
tail -n +1 even | sed 's/^/x,/' >columns
everbloom try --csv -f 2 --sample 1000 -m 4K columns
out_has '1000 lines, '
misused try '--sample must be from 1 to 1e9 lines' try --sample 2e9 even
printf '' >none
everbloom try none
status_is 0; out_has '0 lines, 0 distinct'
[ "$(wc -l <out)" = 1 ] || fail "$(shown out)"

# No kind that needs classes, and no counts of lines such as 1e-45.
seq 10000 >once
everbloom try once
out_has 'No line repeats: '; out_has 'predicted: less than 0.01'
! grep -q '^weighted' out || fail "$(shown out)"
