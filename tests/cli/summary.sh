# dedup --summary: each window of a key that was repeated ends with how often it was.
. "$EXPECT"
cat >in <<'E'
2024-01-31T12:00:00Z disk full
2024-01-31T12:00:01Z login
2024-01-31T12:01:00Z disk full
2024-01-31T12:03:10Z disk full
2024-01-31T12:04:00Z other
2024-01-31T12:30:00Z disk full
2024-01-31T12:30:01Z disk full
2024-01-31T12:50:00Z end
E
everbloom dedup --window 10m --time-field 1 -d ' ' -f 2- --summary in
status_is 0
cat >want <<'E'
2024-01-31T12:00:00Z disk full
2024-01-31T12:00:01Z login
2024-01-31T12:04:00Z other
disk full: repeated 2 times until 2024-01-31T12:03:10Z
2024-01-31T12:30:00Z disk full
disk full: repeated 1 time until 2024-01-31T12:30:01Z
2024-01-31T12:50:00Z end
E
same out want
# In whatever pieces the lines come; and what is still open at the end is told.
everbloom dedup --window 10m --time-field 1 -d ' ' -f 2- --summary < <(while read -r line; do echo "$line"; sleep 0.01; done <in)
same out want
everbloom dedup --window 10m --time-field 1 -d ' ' -f 2- --summary < <(head -n 4 in)
tail -n 1 out >last; printf 'disk full: repeated 2 times until 2024-01-31T12:03:10Z\n' >want; same last want
everbloom dedup --window 10m --jsonl --time-field t -f k --summary < <(printf '{"t":%s,"k":"a\\"b"}\n' 100 101 102)
tail -n 1 out >last; printf '{"key":"a\\"b","repeated":2,"until":"1970-01-01T00:01:42Z"}\n' >want; same last want
# Every line is printed or counted: the judge is the number of lines.
awk 'BEGIN { x = 9; for (t = 0; t < 20000; t++) { x = (x * 16807) % 2147483647; print int(t / 7) "\tk" x % 50 } }' >many
everbloom dedup --window 60s --time-field 1 -f 2 --summary many
printed=$(grep -vc repeated out); repeated=$(sed -n 's/.*repeated \([0-9]*\) time.*/\1/p' out | paste -sd+ | bc)
[ $((printed + repeated)) = 20000 ] || fail "$printed printed and $repeated repeated"
# By the clock a window ends though no line comes.
mkfifo pipe
"$EVERBLOOM" dedup --window 1s --summary <pipe >out 2>err &
pid=$!
exec 3>pipe
printf 'x\nx\n' >&3
for ((i = 0; i < 200; i++)); do grep -q 'x: repeated 1 time' out && break; sleep 0.05; done
grep -q 'x: repeated 1 time' out || fail "no summary while nothing comes: $(shown out)"
exec 3>&-
wait $pid
misused dedup '--summary needs a --window in time, such as 10m' dedup --summary
misused dedup '--summary and --mark: give one of them' dedup --summary --window 1m --mark
# A file whose lines have no time of their own is not for a window in time.
everbloom dedup --window 10m in
status_is 2; no_output; err_has 'everbloom: in is a file: give the times of its lines with --time-field, or follow it with tail -F in | everbloom dedup ...'
everbloom dedup --window 10M in; status_is 0
command -v script >/dev/null || skip "no script(1) to make a terminal"
script -qec "'$EVERBLOOM' dedup --window 10M in >/dev/null" /dev/null </dev/null >seen; grep -q 'the window is 10000000 lines' seen || fail "$(shown seen)"
script -qec "'$EVERBLOOM' dedup --window 10m >/dev/null <in" /dev/null </dev/null >seen; grep -q 'the window is 600 seconds, by the clock' seen || fail "$(shown seen)"
