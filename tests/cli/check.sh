# check: status 0 for whole snapshots, 1 for damage, 2 for trouble; damage is told on standard output.
. "$EXPECT"
slow
everbloom add -o s -m 64K --seed 1 < <(seq 100)
everbloom check s
status_is 0; silent; out_is 's: ok\n'
everbloom check -q s s
status_is 0; silent; no_output
head -c 5000 s >cut
everbloom check s cut
status_is 1; silent; out_has 's: ok'; out_has 'cut: damaged snapshot'
everbloom check -q cut
status_is 1; out_has 'cut: damaged snapshot'
echo text >text
everbloom check text
status_is 1; out_has 'text: not a snapshot'
: >empty
everbloom check empty
status_is 1
everbloom check none
status_is 2; err_is 'everbloom: none: No such file or directory\n'

# Every byte of the head and some of the rest, changed one at a time.
size=$(stat -c %s s)
for at in {0..191} $((size / 3)) $((size / 2)) $((size - 64)) $((size - 1)); do
    cp s bad
    byte=$(od -An -tu1 -j "$at" -N 1 s | tr -d ' ')
    printf "\\x$(printf %x $((byte ^ 128)))" | dd of=bad bs=1 seek="$at" conv=notrunc status=none
    everbloom check bad
    [ "$status" != 0 ] || fail "byte $at changed, and nobody saw it"
done
