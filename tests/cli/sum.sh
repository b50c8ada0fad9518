# sum: counts, sums and averages of a list of keys: near the truth, bounds certain, and honest where it cannot say.
. "$EXPECT"
awk 'BEGIN { x = 3; for (i = 0; i < 20000; i++) {
    x = (x * 16807) % 2147483647; k = int(3000 * (x / 2147483647) ^ 2)
    x = (x * 16807) % 2147483647; print "c" k "\t" x % 100 } }' >pay
for ((i = 0; i < 2800; i += 7)); do echo c$i; done >list
printf 'c7\nnobody\n' >>list # twice is once
read -r sum lines < <(awk 'NR == FNR { v[$1]; next } $1 in v { lines++; s += $2 } END { print s, lines }' list pay)
within() { # within NAME TRUTH - five standard errors, and below the bound
    awk -v x="$(value $1 out)" -v e="$(value $1_error out)" -v u="$(value $1_upper out)" -v t="$2" \
        'BEGIN { exit !(x >= t - 5 * e && x <= t + 5 * e && u >= t && e < t / 2) }' || fail "$1: $(shown out), not $2"
}
everbloom sum --seed 1 -m 100K -f 1 --queries list --json pay
status_is 0; silent; within count $lines
[ "$(value keys out)" = 401 ] || fail "$(shown out)"
everbloom sum --seed 1 -m 100K -f 1 --weight-field 2 --queries list --json pay
status_is 0; silent; within count $lines; within sum $sum
cp out direct
awk -v a="$(value average out)" -v l="$(value average_lower out)" -v u="$(value average_upper out)" -v t=$sum -v n=$lines \
    'BEGIN { exit !(l <= a && a <= u && l <= t / n && t / n <= u && u - l < t / n) }' || fail "$(shown out)"
# The same from filters in files.
spec=spectral:update=plain,span=0,store=u32,memory=100K
everbloom count --filter $spec --seed 1 -f 1 --weight-field 2 --save sums.eb pay
everbloom count --filter $spec --seed 1 -f 1 --save counts.eb pay
everbloom sum --snapshot sums.eb --per counts.eb --queries list --json
status_is 0; silent; same out direct
everbloom sum --snapshot counts.eb --key c7 --key c14; status_is 0; out_has 'at most'
# Lines of value 0 count as lines: they have a part in the mean.
printf 'a\t0\na\t10\na\t0\na\t10\nb\t0\n' >zeros
everbloom sum --seed 1 -m 100K -f 1 --weight-field 2 --key a --key b --json zeros
status_is 0; silent
[ "$(value count_upper out) $(value sum_upper out) $(value average out)" = '5 20 4' ] || fail "$(shown out)"
# What a filter cannot say.
everbloom sum --filter spectral -f 1 --queries list --json pay
status_is 0; err_has 'everbloom: only an upper bound: '
[ "$(value count out)" = null ] && awk -v u="$(value count_upper out)" -v t=$lines 'BEGIN { exit !(u >= t) }' || fail "$(shown out)"
everbloom count --filter $spec --seed 2 -f 1 --save other.eb pay
everbloom sum --snapshot sums.eb --per other.eb --key c7
status_is 0; err_has 'everbloom: no average: filters must have the same seed: 1 and 2 differ'
everbloom add -o bloom.eb list
everbloom sum --snapshot bloom.eb --key c7; status_is 2; no_output; err_is 'everbloom: bloom.eb: this kind of filter does not count\n'
everbloom sum -f 3 --key c7 --on-bad fail pay; status_is 2; no_output; err_is 'everbloom: pay: line 1: there is no field 3 (fields end at a tab: see -d)\n'
misused sum 'nothing to do: name keys with --key or --queries' sum pay
misused sum '--per needs --snapshot' sum --per x --key a
misused sum 'the lines and the queries cannot both come from standard input' sum --queries -

# A list that is known beforehand: exact, with decimals and signs, whatever the number of keys.
everbloom sum -f 1 --weight-field 2 --queries list --json pay
status_is 0; silent
[ "$(value count out) $(value sum out) $(value keys out)" = "$lines $sum 401" ] || fail "exact: $(shown out), not $lines $sum"
printf 'a\t19.99\na\t0\nb\t-0.25\nb\t+3\nc\t1000000000000.000000001\nz\t0.1\nz\t0.2\n' >prices
for case in '2 19.99 9.995:--key a' '2 2.75 1.375:--key b' '4 22.74 5.685:--key a --key b' '1 1000000000000.000000001 1000000000000:--key c' '0  null:--key nobody' '2 0.3 0.15:--key z'; do
    everbloom sum -f 1 --weight-field 2 ${case#*:} --json prices; status_is 0
    [ "$(value count out) $(value sum out | sed 's/^0$//') $(value average out)" = "${case%%:*}" ] || fail "${case}: $(shown out)"
done
everbloom sum -f 1 --weight-field 2 --key a < <(printf 'a\t1\na\t1e3\na\t1.0000000001\na\tx\n')
status_is 0; out_has 'sum                  1'; err_has '3 of 4 lines skipped; the first is standard input: line 2: the value must be a number with up to 18 digits and 9 decimals, not "1e3"'
