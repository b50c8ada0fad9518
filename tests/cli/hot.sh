# The keys that are hottest now: by the time of the lines or by the clock, in text, JSON and on a
# terminal; and point queries with counts that fade.
. "$EXPECT"

# a comes once a second for 1000 s, b 50 times in the last 10 s; the half-life is 100 s.
for i in $(seq 1 1000); do
    printf '%s\ta\n' "$i"
    [ "$i" -le 990 ] || for j in 1 2 3 4 5; do printf '%s.%s\tb\n' "$i" "$j"; done
done >in
everbloom hot -m 1M --time-field 1 -f 2 --half-life 100s --seed 1 in
status_is 0
silent
cut -f 3 out >keys
printf 'a\nb\n' >want
same keys want
# A key that comes once a second: 1 / (1 - 2^(-1/100)) = 144.8, less what came before it began.
awk -F'\t' '$3 == "a" && ($1 < 143.9 || $1 > 146) { print; bad = 1 } $3 == "b" && ($1 < 47 || $1 > 50.3) { print; bad = 1 }
    $3 == "a" && ($2 < 0.99 || $2 > 1.02) { print; bad = 1 } END { exit bad }' out || fail "wrong counts: $(shown out)"
everbloom hot -m 1M --time-field 1 -f 2 --half-life 2s --top 1 --seed 1 in
[ "$(cut -f 3 out)" = b ] || fail "b is not the hottest: $(shown out)"

# On the way, by the time of the lines: one JSON object each time, the same at each run.
everbloom hot -m 1M --time-field 1 -f 2 --half-life 100s --every 250s --json --seed 1 in
status_is 0
[ "$(wc -l <out)" -eq 4 ] || fail "not four objects: $(shown out)"
head -n 1 out >first
[ "$(value time first)" = 251.000 ] && [ "$(value lines first)" = 250 ] || fail "first: $(shown first)"
out_has '"keys":[{"key":"a","count":'
cp out before
everbloom hot -m 1M --time-field 1 -f 2 --half-life 100s --every 250s --json --seed 1 <in
same out before

# A long silence is one table, not thousands.
printf '1\ta\n1000000000\tb\n' >gap
everbloom hot -m 1M --time-field 1 -f 2 --every 1s --json gap
[ "$(wc -l <out)" -eq 2 ] || fail "not two objects: $(shown out)"
# What has faded away is not listed.
everbloom hot -m 1M --time-field 1 -f 2 gap
[ "$(cut -f 3 out)" = b ] || fail "a has faded: $(shown out)"

# No key above the watermark is missing, with more keys than are kept.
for i in $(seq 1 3000); do
    printf '%s\tk%s\n%s\tk%s\n' "$i" "$i" "$i" "$((i % 40))"
done >many
everbloom hot -m 1M --time-field 1 -f 2 --half-life 1000s --top 40 --json many
awk -F'"' '{ n = gsub(/"key":/, ""); exit n != 40 }' out || fail "not 40 keys"
for i in $(seq 0 39); do out_has "\"k$i\""; done
value watermark out | awk '{ exit !($1 > 0 && $1 < 10) }' || fail "watermark $(value watermark out)"

# CSV, weights, RFC 3339; lines that are late count at the time of the line before.
printf '2026-01-01T00:00:00Z,"x, y",3\n2026-01-01T00:00:10+00:00,z,1\n2025-12-31T23:00:00Z,z,1\n' >csv
everbloom hot -m 1M --csv --time-field 1 -f 2 --weight-field 3 --half-life 10s csv
[ "$(cut -f 3 out | tr '\n' ';')" = 'z;x, y;' ] || fail "not as weighted: $(shown out)"

# Without times, by the clock.
everbloom hot -m 1M < <(printf 'a\nb\na\n')
[ "$(cut -f 3 out | tr '\n' ';')" = 'a;b;' ] || fail "by the clock: $(shown out)"

misused hot '--half-life chooses a filter: not with --filter' hot --half-life 1m --filter decay
misused hot 'hot needs a filter whose counts fade: decay:halflife=MILLISECONDS' hot --filter bloom:memory=4K
misused hot '--top must be 1..1000000, not 2000000' hot --top 2000000
misused count '--time-field needs --half-life, or a --window in time' count --time-field 1 --key a
everbloom hot -m 1M --time-field 1 < <(echo yesterday)
status_is 2
err_has 'the time must be seconds since 1970'

# Point queries: the count and the rate.
everbloom count --time-field 1 -f 2 --half-life 100s --header --key a --key c --seed 1 in
status_is 0
[ "$(head -n 1 out)" = "$(printf 'count\tlower\tupper\tconfidence\thint\trate\tkey')" ] || fail "header: $(shown out)"
awk -F'\t' 'NR == 2 { exit !($1 > 143.9 && $1 < 146 && $6 > 0.99 && $6 < 1.02 && $7 == "a") }' out || fail "a: $(shown out)"
awk -F'\t' 'NR == 3 { exit !($1 == 0 && $6 == 0 && $7 == "c") }' out || fail "c: $(shown out)"
everbloom count --time-field 1 -f 2 --half-life 100s --json --key a --state kept.eb in
value rate out | awk '{ exit !($1 > 0.99 && $1 < 1.02) }' || fail "rate: $(shown out)"

# Other functions of age: what came in the last 100 s, by epochs of 10 s.
everbloom count --time-field 1 -f 2 --filter aging:memory=1M,window=10,period=10000 --key a in
status_is 0
[ "$(cut -f 1,6 out)" = "$(printf '91\ta')" ] || fail "in the window: $(shown out)"

# Sums of weights are large, and there is room for them.
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "1\tk%d\t%d\n", i, i == 7 ? 90000 : 60000 }' >heavy
everbloom hot --time-field 1 -f 2 --weight-field 3 --top 1 -m 1M --seed 1 heavy
status_is 0; silent; out_has 'k7'
awk '{ exit !($1 >= 90000 && $1 < 91000) }' out || fail "a sum of weights: $(shown out)"

# On a terminal the screen is drawn again and again, and keys cannot move the cursor.
command -v script >/dev/null || skip "no script(1) to make a terminal"
script -qec "{ printf 'a\033[2Jb\nc\n'; sleep 3; echo c; } | '$EVERBLOOM' hot -m 1M --every 100ms" /dev/null </dev/null >seen
grep -q 'KEY' seen && grep -q 'a?\[2Jb' seen || fail "not shown: $(shown seen)"
[ "$(grep -c 'complete above' seen)" -ge 2 ] || fail "not drawn again: $(shown seen)"
