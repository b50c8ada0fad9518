# kill -9 while the state is saved, 200 times: it can always be loaded, and never goes back.
. "$EXPECT"
mkdir d
everbloom dedup --state d/s -m 256K </dev/null
status_is 0
before=0 moved=0
for ((i = 0; i < 200; i++)); do
    "$EVERBLOOM" dedup --state d/s --save-every 1ms >/dev/null 2>err < <(exec seq "$i" 100000000 2>/dev/null) &
    pid=$!
    sleep 0.0$((i % 5 + 1))
    kill -9 $pid 2>/dev/null || fail "it ended by itself: $(shown err)"
    wait $pid 2>/dev/null
    everbloom info --json d/s
    status_is 0
    items=$(value items out)
    [ "$items" -ge "$before" ] || fail "the state went back from $before to $items keys"
    [ "$items" -gt "$before" ] && moved=$((moved + 1))
    before=$items
done
[ "$moved" -gt 0 ] || fail "no state was saved in 200 runs"
everbloom check d/s
status_is 0
