# A full disk is an error (status 2), and the old files stay as they were.
. "$EXPECT"
slow
lines() { printf '%s\n' {1..100000}; }
[ -c /dev/full ] || skip "no /dev/full"

"$EVERBLOOM" dedup -m 64K < <(lines) >/dev/full 2>err
status=$?
status_is 2; err_is 'everbloom: standard output: No space left on device\n'
everbloom dedup -m 64K -o /dev/full < <(lines)
status_is 2; err_is 'everbloom: /dev/full: No space left on device\n'
for words in --help --version 'dedup --help' kinds 'kinds --json' 'predict stable:memory=1M' '--generate man everbloom'; do
    "$EVERBLOOM" $words >/dev/full 2>err
    status=$?
    status_is 2; err_is 'everbloom: standard output: No space left on device\n'
done

# Lines that could not be printed must not be remembered.
everbloom dedup --state s -m 64K < <(echo a)
cp s before
"$EVERBLOOM" dedup --state s < <(lines) >/dev/full 2>err
status=$?
status_is 2; same s before
# Also on the way: many small files, so that saving falls due while lines wait in the buffer.
mkdir many
for i in {1..2000}; do echo "line $i" >many/$i; done
"$EVERBLOOM" dedup --state late --save-every 1ms -m 4K many/* >/dev/full 2>err
status=$?
status_is 2; missing late

# The disk of the state: a file size limit stands for it where no small disk can be made.
mkdir d
everbloom dedup --state d/s -m 1M --seed 1 < <(echo a)
cp d/s before
(ulimit -f 64; "$EVERBLOOM" dedup --state d/s < <(echo b) >out 2>err)
status=$?
status_is 2; err_is 'everbloom: d/s: File too large\n'
same d/s before; folder_holds d s
(ulimit -f 64; "$EVERBLOOM" dedup -m 64K -o d/o < <(lines) 2>err)
status=$?
status_is 2; err_is 'everbloom: d/o: File too large\n'
folder_holds d s

mkdir small
mount -t tmpfs -o size=1536k none small 2>/dev/null || exit 0
trap 'umount small' EXIT
everbloom dedup --state small/s -m 1M --seed 1 < <(seq 400000) # full, so that no part of it is a hole
status_is 0; cp small/s before
everbloom dedup --state small/s < <(echo b)
status_is 2; err_is 'everbloom: small/s: No space left on device\n'
same small/s before; folder_holds small s
everbloom dedup -m 64K -o small/o < <(lines; lines; lines | sed s/^/x/)
status_is 2; err_is 'everbloom: small/o: No space left on device\n'
folder_holds small s
everbloom merge -o small/m before
status_is 2; folder_holds small s
