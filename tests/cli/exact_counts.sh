# While the keys are few, count is exact in little memory, fading or not; when they are many, never too low.
. "$EXPECT"
awk 'BEGIN { for (r = 0; r < 20; r++) for (i = 0; i < 3000; i++) if (r <= i % 20) print "key" i }' >lines
awk 'BEGIN { for (i = 0; i < 3000; i++) print "key" i; print "none" }' >asked
all_right() { # WHAT: each key i came 1 + i % 20 times, none never
    awk -v what="$1" '
    { truth = $NF == "none" ? 0 : 1 + substr($NF, 4) % 20; off = $1 - truth; if (off * off > 1e-6) wrong++ }
    END { if (wrong || NR != 3001) { print what ": " wrong " of " NR " counts are wrong"; exit 1 } }' out || fail "$(shown err)"
}
for how in '' '--half-life 30d' '--window 1h' '--window 1h --decay chordal' '--window 10d --decay poly' --removable; do
    # shellcheck disable=SC2086
    everbloom count -m 64K $how --queries asked lines
    status_is 0
    all_right "count $how"
done

# By the times of lines, also of late ones: what is older than the window is gone, half-lives halve.
printf '%s\n' '100 a' '100 a' '3600 a' '3590 b' '5000 a' '5000 c' >timed
everbloom count -m 64K --window 3600s --epochs 10 --time-field 1 -f 2 -d ' ' --key a --key b --key c timed
status_is 0
[ "$(awk '{ printf "%s ", $1 }' out)" = '2 1 1 ' ] || fail "$(shown out)"
printf '%s\n' '0 a' '0 a' '0 b' '0 b' '0 b' '0 b' '0 b' '0 b' '0 b' '0 b' '600 a' '1200 c' >timed
everbloom count -m 64K --half-life 10m --time-field 1 -f 2 -d ' ' --key a --key b --key c timed
status_is 0
[ "$(awk '{ printf "%s ", $1 }' out)" = '1 2 1 ' ] || fail "$(shown out)"
# Before the first window is over, and when thousands of half-lives are.
printf '%s\n' '10 a' '20 a' '400 b' >timed
everbloom count -m 64K --window 3600s --epochs 10 --time-field 1 -f 2 -d ' ' --key a --key b timed
[ "$(awk '{ printf "%s ", $1 }' out)" = '2 1 ' ] || fail "$(shown out)"
printf '%s\n' '1000 a' '1000 a' '3000 b' '3001 b' '2999 c' >timed
everbloom count -m 64K --half-life 1s --time-field 1 -f 2 -d ' ' --key b --key c --key a timed
awk 'NR < 3 { printf "%s ", $1 } NR == 3 { print ($1 < 1e-300) }' out | grep -qx '1.5 0.25 1' || fail "$(shown out)"

# Weights count.
printf '%s\n' 'a 5' 'b 7' 'a 6' >weighted
everbloom count -m 64K --weight-field 2 -f 1 -d ' ' --key a --key b weighted
status_is 0
[ "$(awk '{ printf "%s ", $1 }' out)" = '11 7 ' ] || fail "$(shown out)"

# More keys than the table has room for: the filter answers, which has counted from the beginning.
awk 'BEGIN { for (r = 0; r < 4; r++) for (i = 0; i < 30000; i++) print "key" i }' >many
for how in '' '--half-life 30d' '--window 1h'; do
    # shellcheck disable=SC2086
    everbloom count -m 64K $how --queries asked many
    status_is 0
    # (Of rounds of all keys the filter that does not fade makes no mistake here.)
    awk -v fades="$how" '$NF != "none" { low += $1 < 4 - 1 / 8; high += $1 > 4.01 }
        END { exit !(low == 0 && (high > 0 || fades == "")) }' out || fail "$how: $(shown out)"
done
# A filter that was asked for answers itself.
everbloom count --filter spectral:memory=16K --queries asked lines
status_is 0
awk '$NF != "none" { off += $1 != 1 + substr($NF, 4) % 20 } END { exit !(off > 0) }' out || fail "--filter"
