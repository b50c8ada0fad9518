# States of more than 4 MiB: small changes are appended, and everything that reads them knows that.
. "$EXPECT"
slow
bytes_written() { sed -n 's/^wchar: //p' "/proc/$1/io"; }
mkfifo in
seq 1 300000 | "$EVERBLOOM" dedup --state s -m 8M --seed 1 >/dev/null
size=$(stat -c %s s)

# A trickle: each save is far below 2 % of the state, and the file stays readable all the time.
"$EVERBLOOM" dedup --state s --save-every 1ms <in >lines 2>err &
pid=$!
exec 3>in
sleep 0.2
before=$(bytes_written $pid)
for ((i = 1; i <= 30; i++)); do
    echo "new $i" >&3
    until "$EVERBLOOM" info --json s >out && [ "$(value items out)" = $((300000 + i)) ]; do
        kill -0 $pid || fail "it died: $(shown err)"
    done
done
written=$(($(bytes_written $pid) - before))
[ $written -lt $((30 * size / 50)) ] || fail "$written bytes for 30 saves"
[ "$(value journals out)" = 30 ] || fail "no journal: $(shown out)"

# What kill -9 leaves is whole, and equals what a run without a journal would have made.
kill -9 $pid
wait $pid 2>/dev/null
exec 3>&-
everbloom check s; status_is 0
everbloom merge -o plain s; status_is 0
everbloom info --json plain; [ "$(value items out)" = 300030 ] || fail "merged: $(shown out)"
grep -q journals out && fail "the output of merge has a journal"
cp s torn
everbloom dedup --state s < <(echo 'new 30'; echo 'new 31')
status_is 0; out_is 'new 31\n'
{ seq 1 300000; for ((i = 1; i <= 30; i++)); do echo "new $i"; done; printf 'new 30\nnew 31\n'; } |
    "$EVERBLOOM" dedup --state one -m 8M --seed 1 >/dev/null
everbloom test s < <(seq 1 300000; seq -f 'new %.0f' 40)
mv out ours
everbloom test one < <(seq 1 300000; seq -f 'new %.0f' 40)
same ours out

# Cut off anywhere: the last save is lost, no other; the next run repairs the file.
length=$(stat -c %s torn)
for cut in 1 20 39 100 500; do
    head -c $((length - cut)) torn >t
    everbloom info --json t; status_is 0
    [ "$(value items out)" = 300029 ] || fail "cut by $cut: $(value items out)"
done
{ cat torn; head -c 100 /dev/zero; } >t
everbloom info --json t; status_is 0
[ "$(value items out)" = 300030 ] || fail "zeros behind: $(value items out)"
head -c $((length - 20)) torn >t
everbloom dedup --state t < <(echo 'new 30')
status_is 0; out_is 'new 30\n'
everbloom info --json t
[ "$(value items out)" = 300030 ] || fail "repaired: $(value items out)"

# One changed byte in the middle of the journal is damage, not an end.
for at in 70 110 1000 5000; do
    cp torn bad
    printf '\x5a\x5b\x5c' | dd of=bad bs=1 seek=$((size + at)) conv=notrunc status=none
    everbloom check bad
    status_is 1; out_has 'damaged snapshot'
done

# A large change, or one at the end of input, makes one snapshot of it again.
everbloom dedup --state s < <(seq 400000 500000)
status_is 0
everbloom info --json s
grep -q journals out && fail "not folded: $(shown out)"
[ "$(stat -c %s s)" -le $((size + 100)) ] || fail "$(stat -c %s s) bytes"

# A new state of much memory and few keys takes little room.
everbloom dedup --state sparse -m 64M < <(seq 100)
status_is 0
[ "$(du -k sparse | cut -f 1)" -lt 4096 ] || fail "$(du -k sparse) for 100 keys"
