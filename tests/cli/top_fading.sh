# The keys that are hottest now: by the time of the lines or by the clock, in text, JSON and on a
# terminal; and point queries with counts that fade.
. "$EXPECT"
slow

# a comes once a second for 1000 s, b 50 times in the last 10 s; the half-life is 100 s.
for i in $(seq 1 1000); do
    printf '%s\ta\n' "$i"
    [ "$i" -le 990 ] || for j in 1 2 3 4 5; do printf '%s.%s\tb\n' "$i" "$j"; done
done >in
everbloom top -m 1M --time-field 1 -f 2 --half-life 100s --seed 1 in
status_is 0
silent
cut -f 3 out >keys
printf 'a\nb\n' >want
same keys want
# A key that comes once a second: 1 / (1 - 2^(-1/100)) = 144.8, less what came before it began.
awk -F'\t' '$3 == "a" && ($1 < 143.9 || $1 > 146) { print; bad = 1 } $3 == "b" && ($1 < 47 || $1 > 50.3) { print; bad = 1 }
    $3 == "a" && ($2 < 0.99 || $2 > 1.02) { print; bad = 1 } END { exit bad }' out || fail "wrong counts: $(shown out)"
everbloom top -m 1M --time-field 1 -f 2 --half-life 2s --top 1 --seed 1 in
[ "$(cut -f 3 out)" = b ] || fail "b is not the hottest: $(shown out)"

# On the way, by the time of the lines: one JSON object each time, the same at each run.
everbloom top -m 1M --time-field 1 -f 2 --half-life 100s --every 250s --json --seed 1 in
status_is 0
[ "$(wc -l <out)" -eq 4 ] || fail "not four objects: $(shown out)"
head -n 1 out >first
[ "$(value time first)" = 251.000 ] && [ "$(value lines first)" = 250 ] || fail "first: $(shown first)"
out_has '"keys":[{"key":"a","count":'
cp out before
everbloom top -m 1M --time-field 1 -f 2 --half-life 100s --every 250s --json --seed 1 <in
same out before

# A long silence is one table, not thousands.
printf '1\ta\n1000000000\tb\n1000000000\tb\n' >gap
everbloom top -m 1M --half-life 10m --time-field 1 -f 2 --every 1s --json gap
[ "$(wc -l <out)" -eq 2 ] || fail "not two objects: $(shown out)"
# What has faded away is not listed.
everbloom top -m 1M --half-life 10m --time-field 1 -f 2 gap
[ "$(cut -f 3 out)" = b ] || fail "a has faded: $(shown out)"

# No key above the watermark is missing, with more keys than are kept.
for i in $(seq 1 3000); do
    printf '%s\tk%s\n%s\tk%s\n' "$i" "$i" "$i" "$((i % 40))"
done >many
everbloom top -m 64K --time-field 1 -f 2 --half-life 1000s --top 40 --json many
awk -F'"' '{ n = gsub(/"key":/, ""); exit n != 40 }' out || fail "not 40 keys"
for i in $(seq 0 39); do out_has "\"k$i\""; done
value watermark out | awk '{ exit !($1 > 0 && $1 < 10) }' || fail "watermark $(value watermark out)"

# CSV, weights, RFC 3339; lines that are late count at their own place, long ago.
printf '2026-01-01T00:00:00Z,"x, y",3\n2026-01-01T00:00:10+00:00,z,1\n2025-12-31T23:00:00Z,z,1\n' >csv
everbloom top -m 1M --csv --time-field 1 -f 2 --weight-field 3 --half-life 10s csv
[ "$(cut -f 3 out | tr '\n' ';')" = 'x, y;z;' ] || fail "not as weighted: $(shown out)"

# Without times, by the clock.
everbloom top -m 1M --half-life 10m < <(printf 'a\nb\na\n')
[ "$(cut -f 3 out | tr '\n' ';')" = 'a;b;' ] || fail "by the clock: $(shown out)"

misused top '--half-life chooses a filter: not with --filter' top --half-life 1m --filter decay
misused top 'top needs a --window in time, such as 10m' top --window 1000
misused top 'top needs a filter of the kind top, which keeps keys' top --filter aging
everbloom top --filter top:by=polygonal,heights=50:100 </dev/null
status_is 2; err_is 'everbloom: top: counts must only fall with age\n'
misused top '-n must be 1..1000000, not 2000000' top --top 2000000
misused count '--time-field needs --half-life, or a --window in time' count --time-field 1 --key a
misused top '--time-field needs --half-life, or a --window in time' top --time-field 1
misused top '--verify cannot be combined with counts that fade' top --window 10m --verify in
everbloom top -m 1M --half-life 1m --time-field 1 --on-bad fail < <(echo yesterday)
status_is 2
err_has 'the time must be seconds since 1970'

# Point queries: the count and the rate.
everbloom count --time-field 1 -f 2 --half-life 100s --names --key a --key c --seed 1 in
status_is 0
[ "$(head -n 1 out)" = "$(printf 'count\tlower\tupper\tconfidence\thint\trate\tkey')" ] || fail "header: $(shown out)"
awk -F'\t' 'NR == 2 { exit !($1 > 143.9 && $1 < 146 && $6 > 0.99 && $6 < 1.02 && $7 == "a") }' out || fail "a: $(shown out)"
awk -F'\t' 'NR == 3 { exit !($1 == 0 && $6 == 0 && $7 == "c") }' out || fail "c: $(shown out)"
everbloom count --time-field 1 -f 2 --half-life 100s --json --key a --state kept.eb in
value rate out | awk '{ exit !($1 > 0.99 && $1 < 1.02) }' || fail "rate: $(shown out)"

# Other functions of age: what came in the last 100 s, by epochs of 10 s.
everbloom count --time-field 1 -f 2 --filter aging:memory=1M,epochs=10,period=10000 --key a in
status_is 0
[ "$(cut -f 1,6,7 out)" = "$(printf '91\t0.91\ta')" ] || fail "in the window: $(shown out)"

# The same of the hottest keys: b came 50 times in the last 10 s, a 100 times in the last 100 s.
for window in 10s 100s; do
    everbloom top -m 1M --time-field 1 -f 2 --window $window --seed 1 in
    status_is 0; silent
    awk -F'\t' -v w=$window '$3 == "a" && ($1 < w + 0 || $1 > w * 30 / 27 + 1 || $2 < 0.89 || $2 > 1.05) { bad = 1 }
        $3 == "b" && ($1 < 50 || $1 > 50) { bad = 1 } END { exit bad || NR != 2 }' out || fail "$window: $(shown out)"
    [ "$(head -n 1 out | cut -f 3)" = "$([ $window = 10s ] && echo b || echo a)" ] || fail "$window: $(shown out)"
done
everbloom top -m 1M --time-field 1 -f 2 --decay chordal --window 20s --seed 1 in
[ "$(cut -f 3 out | tr '\n' ';')" = 'b;a;' ] || fail "chordal: $(shown out)"
# What left the window is not listed, and neither is its watermark: 3000 keys once each, then silence.
everbloom top -m 64K --time-field 1 -f 2 --window 2000s --json --every 1000s many
tail -n 1 out >last
value watermark last | awk '{ exit !($1 >= 1 && $1 < 10) }' || fail "watermark $(shown last)"
{ cat many; printf '9000\tz\n'; } >quiet
everbloom top -m 64K --time-field 1 -f 2 --window 2000s --json quiet
[ "$(value watermark out)" = 0 ] && out_has '"keys":[{"key":"z","count":1,' || fail "after the silence: $(shown out)"
# Keys of long ago make room, however hot they were.
awk 'BEGIN { for (t = 1; t <= 10; t++) for (k = 1; k <= 1000; k++) printf "%d\told%d\n", t, k
    for (i = 0; i < 5000; i++) print "10\told1" # so that old and new are not asked about together
    for (t = 1; t <= 5; t++) for (k = 1; k <= 50; k++) printf "%d\tnew%d\n", 2000 + t, k }' >turns
everbloom top -m 4M --time-field 1 -f 2 --window 100s --top 100 --json turns
[ "$(value watermark out)" = 0 ] && [ "$(grep -o '"key":"new[0-9]*","count":5,' out | wc -l)" = 50 ] ||
    fail "new keys: $(shown out)"
# With the table full, no key above the watermark is missing, by exact counts of the last window.
awk 'BEGIN { srand(3); for (t = 1; t <= 20000; t++) { u = rand(); printf "%d\tk%d\n", t / 10, int(exp(u * log(5000))) } }' >skewed
everbloom top -m 4M --time-field 1 -f 2 --window 500s --epochs 100 --top 20 --json skewed
awk -F'\t' '$1 > 1505 { n[$2]++ } END { for (k in n) print n[k] "\t" k }' skewed | sort -rn | head -n 20 |
    while IFS=$'\t' read -r n k; do
        awk -v n="$n" -v w="$(value watermark out)" 'BEGIN { exit !(n > w) }' || continue
        grep -qF "\"key\":\"$k\"" out || echo "$k came $n times"
    done >missing
# The last of twenty may be crowded out by keys with the same count.
[ "$(wc -l <missing)" -le 1 ] || fail "missing: $(shown missing) $(shown out)"

# Sums of weights are large, and there is room for them.
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "1\tk%d\t%d\n", i, i == 7 ? 90000 : 60000 }' >heavy
everbloom top --half-life 10m --time-field 1 -f 2 --weight-field 3 --top 1 -m 1M --seed 1 heavy
status_is 0; silent; out_has 'k7'
awk '{ exit !($1 >= 90000 && $1 < 91000) }' out || fail "a sum of weights: $(shown out)"

# So there is for keys of which all are hot.
seq 3000 | awk '{ for (i = 0; i < 300; i++) print }' >hot # each 300 times
everbloom top --half-life 7d --top 1 -m 1M --seed 1 hot
status_is 0; silent
awk '{ exit !($1 >= 299 && $1 <= 303) }' out || fail "a hot key: $(shown out)"

# Rates are right from the first second on, whatever the half-life or the window: a 5 times, b once a second.
awk 'BEGIN { for (t = 100; t < 108; t++) { for (i = 0; i < 5; i++) print t "\ta"; print t "\tb" } }' >eight
for how in '--half-life 10m' '--window 10m' '--window 1d' '--half-life 5s' '--decay chordal --window 10m' \
    '--decay polygonal --window 1h' '--decay poly --window 1h --epochs 100' '--filter top:memory=1M,halflife=600000'; do
    everbloom top $how --time-field 1 -f 2 eight
    awk -F'\t' '{ want = $3 == "a" ? 5 : 1; if ($2 < 0.95 * want || $2 > 1.15 * want) bad = 1 } END { exit bad || NR != 2 }' out ||
        fail "rates after 8 s with $how: $(shown out)"
    everbloom top $how --time-field 1 -f 2 --json eight
    sed 's/,"watermark.*//; s/.*"rate"://' out | awk '{ exit !($1 > 5.7 && $1 < 6.5) }' || fail "total with $how: $(shown out)"
done
# Shares of all that counts: 5 of 6.
everbloom top --window 1h --time-field 1 -f 2 --at-least 50% --as table eight
status_is 0; out_is 'count  share  rate  key\n   40  83.3%%     5  a\n'

# On a terminal the screen is drawn again and again, and keys cannot move the cursor.
command -v script >/dev/null || skip "no script(1) to make a terminal"
for how in '--half-life 10m' ''; do
    : >seen
    script -qec "stty rows 24 cols 80; { printf 'a\033[2Jb\nc\n'; for i in \$(seq 300); do [ \$(grep -ac 'PER SECOND' seen) -ge 2 ] && break; sleep 0.1; done; echo c; } | '$EVERBLOOM' top -m 1M --every 100ms $how" /dev/null </dev/null >seen
    grep -q 'KEY' seen && grep -q 'a?\[2Jb' seen || fail "not shown: $(shown seen)"
    [ "$(grep -c 'PER SECOND' seen)" -ge 2 ] || fail "not drawn again: $(shown seen)"
done
# Space pauses it and q ends it, though the input goes on; what was counted is printed.
mkfifo endless
exec 5<>endless
{ seq 5; echo 5; } >&5
: >seen
until_shown() { for ((i = 0; i < 300; i++)); do grep -aq "$1" seen && return; sleep 0.1; done; }
# Who types is no child of script, which ends when all its children have, and only then writes its last words.
mkfifo typed
{ until_shown KEY; printf ' '; until_shown paused; printf q; until_shown '1049l'; } >typed &
script -qec "stty rows 24 cols 80; '$EVERBLOOM' top -m 1M --every 100ms <endless" /dev/null <typed >seen &
pid=$!
for ((i = 0; i < 300; i++)); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
kill $pid 2>/dev/null && fail "q does not end it: $(shown seen)"
grep -q 'paused' seen || fail "space does not stop it: $(shown seen)"
grep -q '2  33.3%  5' seen || fail "it does not print what it counted: $(shown seen)"
exec 5>&-
