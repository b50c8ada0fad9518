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

# Changed bytes in the middle of the journal are damage, not an end: in a head, or in a body.
for at in 8 16 22 24 32 70 110 1000 5000; do
    cp torn bad
    printf '\x5a\x5b\x5c' | dd of=bad bs=1 seek=$((size + at)) conv=notrunc status=none
    everbloom check bad
    status_is 1; out_has 'damaged snapshot'
done

# So is a section with right checksums that we would not write.
if /usr/bin/python3 -c 'import xxhash' 2>/dev/null; then
    /usr/bin/python3 - torn $size <<'P'
import struct, sys, xxhash
good = open(sys.argv[1], 'rb').read()[:int(sys.argv[2])]  # a snapshot and its note
end = sum(struct.unpack_from('<IQ', good, 20))
def section(kind, body):
    head = b'\x89EVS\r\n\x1a\n' + struct.pack('<QQQ', kind, len(body), xxhash.xxh3_64_intdigest(body))
    return head + struct.pack('<Q', xxhash.xxh3_64_intdigest(head)) + body
def piece(at, n, bytes_):
    return struct.pack('<QQ', at, n) + bytes_
sections = {'same': section(2, piece(0, 64, good[:64])), 'behind': section(2, piece(end + 1, 0, b'')),
    'beyond': section(2, piece(end - 8, 16, bytes(16))), 'wraps': section(2, piece(2**64 - 8, 16, bytes(16))),
    'longer': section(2, piece(0, 2**64 - 8, good[:64])), 'missing': section(2, piece(0, 65, good[:64])),
    'half': section(2, piece(0, 64, good[:64]) + bytes(15)), 'unknown': section(3, piece(0, 64, good[:64])),
    'note': section(1, b'-f\0 2'), 'long': section(1, b'x' * 1024)}
for name, bytes_ in sections.items():
    open('with.' + name, 'wb').write(good + bytes_ + section(2, b''))
P
    everbloom check with.same; status_is 0
    for bad in with.*; do
        [ $bad = with.same ] && continue
        everbloom check $bad; status_is 1; out_has 'damaged snapshot'
    done
fi

# What others did to the file meanwhile: it is replaced by what this run knows, not added to.
cp t before
meddled() { # meddled COMMAND... - with the file m, between two saves of a run
    cp before m
    "$EVERBLOOM" dedup --state m --save-every 1ms <in >lines 2>err &
    pid=$!
    exec 3>in
    saved() {
        echo "$1" >&3
        for try in {1..3000}; do "$EVERBLOOM" info --json m >out && [ "$(value items out)" = "$2" ] && return; done
        fail "$1 is not saved: $(shown out)"
    }
    saved one 300031
    eval "$1"
    saved two 300032
    exec 3>&-
    wait $pid || fail "status $?: $(shown err)"
    everbloom check m; status_is 0
    everbloom test m < <(printf 'one\ntwo\nthree\n'); out_is 'one\ntwo\n'
}
meddled 'printf "%99s" >>m'
meddled 'cp m other; head -c 100 /dev/urandom | dd of=other bs=1 seek=$((size + 500)) conv=notrunc status=none; mv other m'

# No room for a journal: the file is as it was.
cp before m
(ulimit -f $(($(stat -c %s m) / 1024 + 1)); exec "$EVERBLOOM" dedup --state m < <(seq 500001 500020) >out 2>err)
status=$?; status_is 2; err_is 'everbloom: m: File too large\n'; same m before

# A journal does not grow beyond the snapshot.
"$EVERBLOOM" dedup --state m --save-every 1ms <in >lines 2>err &
pid=$!
exec 3>in
for ((i = 0; i < 5; i++)); do
    seq $((600000 + 50000 * i)) $((649999 + 50000 * i)) >&3
    until "$EVERBLOOM" info --json m >out && [ "$(value items out)" = $((350030 + 50000 * i)) ]; do kill -0 $pid || fail "$(shown err)"; done
    [ "$(stat -c %s m)" -le $((2 * size + 100)) ] || fail "$(stat -c %s m) bytes"
done
exec 3>&-
wait $pid

# Other keys from now on: the file says so, also if next to nothing has changed.
cp before m
everbloom dedup --state m -f 1 --new-keys < <(echo four); status_is 0; out_is 'four\n'
everbloom dedup --state m -f 1 < <(printf 'four\nfive\n'); status_is 0; out_is 'five\n'

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
