# dedup --window: repeats within so many lines or so much time are dropped, later ones are not.
. "$EXPECT"
slow

# Lines.  Eras are a 14th of a window: what is older than 15/14 of it is printed again.
{ echo a; seq 100 199; echo a; seq 200 319; echo a; } >in
everbloom dedup --window 120 in
status_is 0; silent
{ echo a; seq 100 319; echo a; } | cmp -s - out || fail "a is there $(grep -c a out) times, not 2"
everbloom dedup --window 120 --refresh in
status_is 0
{ echo a; seq 100 319; } | cmp -s - out || fail "a is there $(grep -c a out) times, not once"
everbloom dedup --window 120 --json in
[ "$(value window_lines) $(value saturated)" = '120 0' ] || fail "$(shown err)"
everbloom dedup --window 1e5 --stats in
err_has 'window in lines      100000'

# Time, from a field: seconds, parts of them, milliseconds, RFC 3339, all mixed.
printf '%s\tx\n' 1700000000 1700000599.9 1700000600000 2023-11-14T22:23:20.5Z 2023-11-14T23:23:20.25+01:00 \
    1700000700 >in
everbloom dedup --window 10m --time-field 1 -f 2 in
status_is 0; out_is '1700000000\tx\n1700000700\tx\n'
silent
everbloom dedup --window 10m --refresh --time-field 1 -f 2 --json in
status_is 0; out_is '1700000000\tx\n'
[ "$(value window_seconds)" = 600 ] || fail "$(shown err)"
everbloom dedup --window 10m < <(printf 'a\na\n') # when they arrive
status_is 0; out_is 'a\n'; silent

# As web servers log it, and without a zone.
printf '%s\tx\n' '[14/Nov/2023:22:13:20' '[14/Nov/2023:23:23:19 +0100]' 14/Nov/2023:22:23:20 '2023-11-14 22:23:20' \
    '2023-11-14 22:25:00' >in
everbloom dedup --window 10m --time-field 1 -f 2 in
status_is 0; out_is '[14/Nov/2023:22:13:20\tx\n2023-11-14 22:25:00\tx\n'; silent
for bad in '[31/Nov/2023:22:13:20' '[14/Nov/2023:22:13' '[14/nov/2023:22:13:20' '14/Nov/2023 22:13:20' '14/Nov' '[' '[]' \
    '14/Nov/2023:22:13:20]' '2023-11-32' '2023-11-14T22:13:20 +0100' '1/'; do
    everbloom dedup --window 10m --time-field 1 -f 2 --on-bad fail < <(printf '%s\tx\n' "$bad")
    status_is 2; no_output; err_has "standard input: line 1: the time must be seconds since 1970 or a time such as 2026-01-31T12:00:00Z, not \"$bad\""
done


# Times of two fields; with a comma, as some programs log them.
printf '%s x\n' '2023-11-14 22:13:20,900' '2023-11-14 22:23:20,899' '2023-11-14 22:25:00,5' >in
everbloom dedup -d ' ' --window 10m --time-field 1-2 -f 3 in
status_is 0; silent; out_is '2023-11-14 22:13:20,900 x\n2023-11-14 22:25:00,5 x\n'
awk '{ print $2, $3, $1 }' in >swapped
everbloom dedup -d ' ' --window 10m --time-field 3,1 -f 2,1 --json swapped # key and time are put together
status_is 0; same out swapped
printf 'h - - %s "GET /"\n' '[14/Nov/2023:23:13:20 +0100]' '[14/Nov/2023:22:13:50 +0000]' >in
everbloom dedup -d ' ' --window 10m --time-field 4,5 -f 6- in
status_is 0; silent; head -n 1 in | out_is
for bad in '2023-11-14 22:13:20,' '2023-11-14 22:13:20,x' '1700000000,5,5' '2023-11-14 22:13:20,5.5'; do
    everbloom dedup --window 10m --time-field 1 --on-bad fail < <(echo "$bad"); status_is 2; err_has "not \"$bad\""
done

# The state knows the window, and its clock.
everbloom dedup --window 1h --time-field 1 -f 2 --state s < <(printf '1000\ta\n')
everbloom dedup --time-field 1 -f 2 --state s < <(printf '1500\ta\n9000\ta\n')
status_is 0; out_is '9000\ta\n'
everbloom dedup --window 2h --time-field 1 -f 2 --state s </dev/null
status_is 2; err_has 'holds a different filter'

# Too much for the memory: the window, or the rate of false positives, gives way.
seq 20000 | awk '{ print int(NR / 10) "\t" $1 }' >in
everbloom dedup --window 10m --time-field 1 -f 2 -m 4K --max-drop 0.01 --stats in
status_is 1; err_has 'everbloom: more came than there is room for: the window was '
[ "$(wc -l <out)" -gt 19000 ] || fail "shorten: only $(wc -l <out) lines"
everbloom dedup --window 10m --time-field 1 -f 2 -m 4K --max-drop 0.01 --on-overload degrade in
status_is 1; err_has 'times there was no room for a line'
[ "$(wc -l <out)" -lt 10000 ] || fail "degrade: $(wc -l <out) lines"

# What is no time, and what makes no sense.
for bad in '' x 12x -5 1.2.3 12. 2023-13-01T00:00:00Z; do
    everbloom dedup --window 10m --time-field 1 --on-bad fail < <(printf '1\n%s\n' "$bad")
    status_is 2
    err_is "everbloom: standard input: line 2: the time must be seconds since 1970 or a time such as \
2026-01-31T12:00:00Z, not \"$bad\" (for other forms: --time-format)\n"
done
echo a >in
for bad in 400d 10q x 0 1.5; do
    misused dedup "--window must be a number of lines such as 1e6 or 10M, or a time from 1ms to 366d, such as \
500ms, 90s, 10m, 2h or 1d, not \"$bad\"" dedup --window "$bad" in
done
misused dedup '--on-overload must be shorten or degrade, not "x"' dedup --window 10 --on-overload x in
misused dedup '--refresh needs --window' dedup --refresh in
misused dedup '--time-field needs a --window in time' dedup --window 10 --time-field 1 in
misused dedup '--window chooses a filter: not with --filter, --items and --distinct' dedup --window 10 --filter lru in
everbloom dedup --window 1e6 -m 1M in
status_is 2; err_has 'window: memory must be at least '; err_has ' for 1000000 keys with fpr=1.2e-6, not 1048576'

# A short window is as long as it says, not longer.
for lines in 1 3 5; do
    { echo a; seq "$lines"; echo a; } >in
    everbloom dedup --window "$lines" in
    same out in
    { echo a; seq $((lines - 1)); echo a; } >in
    everbloom dedup --window "$lines" in
    head -n -1 in | out_is
done
