# The example of caches whose summary knows what a page costs runs, and that saves cost.
. "$EXPECT"
slow
example=$(dirname "$EXPECT")/../../examples/important_caches.sh
"$example" >out 2>err
status=$?
status_is 0; silent
grep -qx 'B saves 8[0-9.]* % with one of the same size that does' out || fail "$(shown out)"
