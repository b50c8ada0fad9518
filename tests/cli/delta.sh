# diff and patch: the newer snapshot again, byte by byte, from few bytes; anything else is refused.
. "$EXPECT"
slow
spec=bloom:memory=1M,k=7,seed=1
everbloom add --filter $spec -o old < <(seq 50000)
cp old new
everbloom add --state new < <(seq 50001 50100)
everbloom diff -o delta old new
status_is 0; no_output; silent
everbloom patch -o made old delta
status_is 0; no_output; silent; same made new
# 100 keys change 700 bytes at most, 4 to 5 bytes each, and some in the heads.
[ "$(stat -c %s delta)" -lt 3700 ] || fail "the delta has $(stat -c %s delta) bytes"
everbloom diff old new
status_is 0; same out delta
everbloom patch old <delta
status_is 0; same out new
everbloom diff - new <old
same out delta
everbloom patch - delta <old
status_is 0; same out new
"$EVERBLOOM" diff old new | "$EVERBLOOM" patch old - >out 2>err
status=$?
status_is 0; same out new
cp old copy
everbloom patch -o copy copy delta
status_is 0; same copy new

# Any two snapshots: shorter, longer, of another kind, equal.
everbloom add --filter stable:memory=20K,seed=1 -o small < <(seq 1000)
back_and_forth() {
    everbloom diff -o d "$1" "$2"; status_is 0
    everbloom patch -o made "$1" d; status_is 0; same made "$2"
}
back_and_forth old small; back_and_forth small old; back_and_forth old old; back_and_forth new old
[ "$(stat -c %s d)" -lt 3700 ] || fail "the way back is longer"

# States, which have more than a snapshot; to and from a plain snapshot, too.
everbloom top --seed 1 -m 64K --at-least 5 --state ice < <(seq 2000; seq 1000)
cp ice ice1
everbloom top --at-least 5 --state ice < <(seq 900 3000)
back_and_forth ice1 ice; back_and_forth ice ice1; back_and_forth ice small; back_and_forth small ice
everbloom diff -o d ice1 ice; everbloom patch -o made ice1 d; status_is 0
everbloom top --at-least 5 --state made </dev/null; status_is 0
head -c $(($(stat -c %s ice1) - 1)) ice1 >cut
everbloom patch -o made cut d; status_is 2

# Refused, with nothing written.
refused() { # refused MESSAGE OLD DELTA
    rm -f made
    everbloom patch -o made "$2" "$3"
    status_is 2; missing made; err_has "everbloom: $1"
}
refused 'new: the delta delta was made for another snapshot' new delta
refused 'small: the delta delta was made for another snapshot' small delta
refused 'old: not a delta' new old
refused 'none: No such file or directory' new none
: >empty
refused 'empty: not a delta' old empty
refused 'empty: not a snapshot' empty delta
size=$(stat -c %s delta)
for keep in 79 80 81 90 200 $((size / 2)) $((size - 1)); do
    head -c "$keep" delta >bad
    everbloom patch -o made old bad
    status_is 2; missing made
done
{ cat delta; echo; } >bad
refused 'bad: damaged delta: there are bytes behind it' old bad
for at in 0 8 40 71 {72..100} 500 1000 $((size / 2)) $((size - 1)); do
    cp delta bad
    byte=$(od -An -tu1 -j "$at" -N 1 delta | tr -d ' ')
    for flip in 1 128; do
        printf "\\x$(printf %x $((byte ^ flip)))" | dd of=bad bs=1 seek="$at" conv=notrunc status=none
        everbloom patch -o made old bad
        status_is 2; missing made
    done
done
misused diff 'the snapshots cannot both come from standard input' diff - -
misused patch 'the snapshot and the delta cannot both come from standard input' patch -
misused diff 'diff needs OLD NEW' diff old
