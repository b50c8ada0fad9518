# The progress line: on a terminal only, after a second, and gone at the end; -q silences it.
. "$EXPECT"
command -v script >/dev/null || skip "no script(1) to make a terminal"
slow='for i in 1 2 3 4 5 6 7 8; do seq $((i * 1000)); sleep 0.25; done'
begin=$SECONDS
script -qec "{ $slow; } | '$EVERBLOOM' dedup -m 1M 2>&1 >out" /dev/null </dev/null >seen
took=$((SECONDS - begin + 1))
grep -q 'lines, .* % seen before' seen || fail "no progress: $(shown seen)"
[ "$(tail -c 4 seen | od -An -c | tr -d ' \n')" = '\r033[K' ] || fail "not cleared: $(tail -c 20 seen | od -c)"
[ "$(grep -o 'seen before' seen | wc -l)" -le $((6 * took)) ] || fail "more than six times a second"
script -qec "{ $slow; } | '$EVERBLOOM' dedup -m 1M -q 2>&1 >out" /dev/null </dev/null >seen
[ ! -s seen ] || fail "-q is not quiet: $(shown seen)"
everbloom dedup -m 1M < <(eval "$slow")
silent
# Nothing in the first second (if this machine was quick enough to tell).
begin=${EPOCHREALTIME/./}
script -qec "{ seq 1000; sleep 0.3; seq 1000; sleep 0.3; seq 10; } | '$EVERBLOOM' dedup -m 1M 2>&1 >out" /dev/null </dev/null >seen
[ $((${EPOCHREALTIME/./} - begin)) -ge 1000000 ] || [ ! -s seen ] || fail "too early: $(shown seen)"
