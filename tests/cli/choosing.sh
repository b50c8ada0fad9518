# Every question of docs/CHOOSING.md has a plot, which the command draws.
. "$EXPECT"
slow
"$(dirname "$EXPECT")/../../examples/choosing.sh" "$EVERBLOOM" plots >out 2>err
status=$?
status_is 0; silent
plots=$(grep -c '^!\[.*\]([0-9]*\.svg)$' plots/CHOOSING.md)
[ "$plots" -ge 7 ] || fail "$(shown out)"
for svg in plots/*.svg; do
    grep -q '<path class="curve"[^>]* d="M[0-9]' "$svg" || fail "$svg has no curve"
done
[ "$(ls plots/*.svg | wc -l)" = "$plots" ] || fail "$(ls plots)"
