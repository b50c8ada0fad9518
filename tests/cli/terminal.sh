# No snapshot goes to a terminal unless forced.
. "$EXPECT"
command -v script >/dev/null || skip "no script(1) to make a terminal"
on_terminal() { script -qec "$1; echo status \$?" /dev/null </dev/null >seen; }
everbloom add -m 4K -o s < <(echo a)
on_terminal "echo a | '$EVERBLOOM' add -m 4K"
grep -q 'a snapshot is not for a terminal: give -o FILE, or --force' seen && grep -q 'status 2' seen ||
    fail "not refused: $(shown seen)"
on_terminal "'$EVERBLOOM' merge s"
grep -q 'status 2' seen || fail "not refused: $(shown seen)"
on_terminal "'$EVERBLOOM' merge -o - s"
grep -q 'status 2' seen || fail "not refused: $(shown seen)"
on_terminal "'$EVERBLOOM' merge --force s"
grep -q 'status 0' seen && grep -q EVB seen || fail "not written: $(shown seen)"
on_terminal "echo a | '$EVERBLOOM' add -m 4K --force"
grep -q 'status 0' seen && grep -q EVB seen || fail "not written: $(shown seen)"
