# Memory: the filter and at most 64 MiB, also while the state is saved and loaded.
. "$EXPECT"
slow
grep -q asan <<<"$EVERBLOOM" && skip "sanitizers need memory of their own"
mkfifo in lines
everbloom add --state state --filter bloom:memory=128M,k=4 < <(seq 10000)
status_is 0
"$EVERBLOOM" dedup --state state --save-every 1ms <in >lines 2>err &
pid=$!
exec 3>in 4<lines
awk 'BEGIN { for (i = 0; i < 5000; i++) print "line", i }' >&3 &
for ((i = 0; i < 5000; i++)); do read -r line <&4 || fail "no line $i: $(shown err)"; done
until "$EVERBLOOM" info --json state >out && [ "$(value items out)" = 15000 ]; do sleep 0.1; done
peak=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status)
exec 3>&-
wait $pid || fail "status $?"
[ "$peak" -le $(((128 + 64) * 1024)) ] || fail "peak memory $peak KiB"
[ "$(stat -c %s state)" -le $((131 << 20)) ] || fail "the file is much larger than the memory asked for"
# Units: 64M and 64MiB are 2^26 bytes, 64MB are 64 million.
size() { everbloom add -m "$1" --seed 1 -o s </dev/null; status_is 0; wc -c <s; }
[ "$(size 1M)" = "$(size 1MiB)" ] || fail "1M is not 1MiB"
[ "$(size 1MB)" = "$(size 1000000)" ] || fail "1MB is not a million bytes"
