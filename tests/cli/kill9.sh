# kill -9 while the state is saved, 200 times: it can always be loaded, and never goes back.
. "$EXPECT"
slow
mkdir d
everbloom dedup --state d/s -m 256K </dev/null
status_is 0
before=0 moved=0
for ((i = 0; i < 200; i++)); do
    "$EVERBLOOM" dedup --state d/s --save-every 1ms >/dev/null 2>err < <(exec seq "$i" 100000000 2>/dev/null) &
    pid=$!
    sleep 0.0$((i % 5 + 1))
    # Now and then only after it has saved, however slow the machine is.
    while [ $((i % 20)) -eq 0 ] && [ "$("$EVERBLOOM" info --json d/s | sed 's/.*"items":\([0-9]*\).*/\1/')" = "$before" ]; do kill -0 $pid || fail "it ended by itself: $(shown err)"; done
    kill -9 $pid 2>/dev/null || fail "it ended by itself: $(shown err)"
    wait $pid 2>/dev/null
    everbloom info --json d/s
    status_is 0
    items=$(value items out)
    [ "$items" -ge "$before" ] || fail "the state went back from $before to $items keys"
    [ "$items" -gt "$before" ] && moved=$((moved + 1))
    before=$items
done
[ "$moved" -ge 10 ] || fail "a state was saved in $moved of 200 runs"
everbloom check d/s
status_is 0
