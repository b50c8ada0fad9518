# --time-field: units told apart by size, dates, syslog, --time-format; a wrong time does not become the present.
. "$EXPECT"
# One moment, and one second later, in every way: within a window of 10 s they are repeats.
at() { # at FIRST SECOND [OPTION...]
    local first=$1 second=$2; shift 2
    everbloom dedup --window 10s --time-field 1 -f 2 "$@" < <(printf '%s\tx\n' "$first" "$second"); status_is 0; silent
    [ "$(wc -l <out)" = 1 ] || fail "$first and $second are not near"
}
for moment in 1700000000 1700000000000 1700000000000000 1700000000000000000 1700000000.25 2023-11-14T22:13:20Z \
    '2023-11-14 22:13:20,5' '[14/Nov/2023:23:13:20 +0100]'; do
    at "$moment" 1700000001
    at "$moment" 1700000001999999999
    at "$moment" 2023-11-15T00:13:21.9+02:00
done
at 1700000001 'Nov 14 22:13:22'
at 2023-11-14 2023-11-14T00:00:09Z
at 'Dec 31 23:59:58' 'Jan  1 00:00:01'
at '14.11.2023 22:13:20' '14.11.2023 22:13:21.5' --time-format '%d.%m.%Y %H:%M:%S'
at '14.11.2023 22:13:20 +0000' '14.11.2023 23:13:21 +0100' --time-format '%d.%m.%Y %H:%M:%S %z'
everbloom dedup --window 10s --time-field 1 -f 2 < <(printf '%s\tx\n' 1700000000000000 1700000011000000); [ "$(wc -l <out)" = 2 ] || fail "microseconds"
for bad in 2023-02-29 'Feb 30 00:00:00' 'Jan 1' 'Foo  1 00:00:00' 12345678901234567890 1700000000.x; do
    everbloom dedup --window 10s --time-field 1 --on-bad fail < <(echo "$bad"); status_is 2; err_has "not \"$bad\""
done
everbloom dedup --window 10s --time-field 1 --time-format %Y --on-bad fail < <(echo x); status_is 2
err_is 'everbloom: standard input: line 1: the time must be as --time-format says, not "x"\n'

# A time in the future is a bad line; the lines behind it are not late.
printf '%s\tx\n' 1700000000 4000000000 1700000020 1700000021 1700000040 >in
everbloom dedup --window 10s --time-field 1 -f 2 in
status_is 0; out_is '1700000000\tx\n4000000000\tx\n1700000020\tx\n1700000040\tx\n'
err_is 'everbloom: 1 of 5 lines passed through unchecked; the first is in: line 2: the time 4000000000 is in the future\n'
everbloom count --window 10m --time-field 1 -f 2 --key x in; [ "$(cut -f 1 out)" = 4 ] || fail "$(shown out)"
err_has '1 of 5 lines skipped'
# --max-jump: the line before says what is too far, but three in a row are believed.
printf '%s\tx\n' 1000 9000 1001 1030 9001 9002 9003 9030 >in
everbloom dedup --window 10s --time-field 1 -f 2 --max-jump 1h --on-bad skip in
status_is 0; out_is '1000\tx\n1030\tx\n9003\tx\n9030\tx\n'; err_has '3 of 8 lines skipped; the first is in: line 2: the time 9000 is too far ahead of the line before'
# The same in the past, where the machine's clock says nothing: the next lines show that it was wrong.
printf '%s\tx\n' 1600000000 1650000000 1600000005 1600000012 1600000013 1600000024 >in
everbloom dedup --window 10s --time-field 1 -f 2 in
status_is 0; out_is '1600000000\tx\n1650000000\tx\n1600000012\tx\n1600000024\tx\n'
err_is 'everbloom: 1 of 6 lines passed through unchecked; the first is in: line 2: the time is far ahead of those before and after\n'
everbloom count --window 10m --time-field 1 -f 2 --key x in; [ "$(cut -f 1 out)" = 5 ] || fail "$(shown out)"
err_has '1 of 6 lines skipped; the first is in: line 2: the time is far ahead'
everbloom dedup --window 10s --time-field 1 -f 2 --on-bad fail in; status_is 2; err_has 'in: line 2: the time is far ahead'
# Also if it is the first line.
printf '%s\tx\n' 1650000000 1600000000 1600000005 1600000012 >in
everbloom dedup --window 10s --time-field 1 -f 2 in
status_is 0; out_is '1650000000\tx\n1600000000\tx\n1600000012\tx\n'; err_has 'line 1: the time is far ahead'
# A night without lines is no wrong time, nor are lines that are all far apart.
printf '%s\tx\n' 1600000000 1600000001 1600030000 1600030001 1600060000 1600090000 1600090001 >in
everbloom dedup --window 10s --time-field 1 -f 2 in
status_is 0; silent; out_is '1600000000\tx\n1600030000\tx\n1600060000\tx\n1600090000\tx\n'
everbloom count --window 1m --time-field 1 -f 2 --key x in; silent; [ "$(cut -f 1 out)" = 2 ] || fail "$(shown out)"
misused dedup '--max-jump needs --time-field' dedup --window 10m --max-jump 1h
misused dedup '--time-format needs --time-field' dedup --window 10m --time-format %s

# A format that nobody can read is refused at once.
for bad in %Q noon; do
    misused dedup "--time-format must have the letters of strptime, such as %d.%m.%Y %H:%M:%S, not \"$bad\"" \
        dedup --window 10m --time-field 1 --time-format "$bad"
done
