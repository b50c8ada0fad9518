# A line of 1 GiB works, and memory stays at the line and the filter; afterwards it is given back.
. "$EXPECT"
mkfifo in
"$EVERBLOOM" dedup -m 16M <in >out 2>err &
pid=$!
exec 3>in
{ head -c 1G /dev/zero | tr '\0' x; echo; head -c 1G /dev/zero | tr '\0' x; echo; echo end; } >&3
until [ "$(stat -c %s out)" -ge $((1024 ** 3 + 5)) ]; do
    kill -0 $pid 2>/dev/null || fail "it died: $(shown err)"
    sleep 0.1
done
peak=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status)
now=$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status)
exec 3>&-
wait $pid
status=$?
status_is 0; silent
[ "$peak" -le $(((1024 + 16 + 64) * 1024)) ] || fail "peak memory $peak KiB"
[ "$now" -le $(((16 + 64) * 1024)) ] || fail "memory after the line $now KiB"
[ "$(head -c 1G out | tr -d x | wc -c)" = 0 ] || fail "the line is not what it was"
[ "$(tail -c 5 out)" = "
end" ] || fail "the lines after it are not what they were"
