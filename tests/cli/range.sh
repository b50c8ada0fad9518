# range: how many numbers or times lie in a range, quantiles, kept filters, one sentence for what is bad.
. "$EXPECT"
slow
awk 'BEGIN { x = 5; for (i = 0; i < 3000; i++) { x = (x * 16807) % 2147483647; print "s" x % 7 "\t" x % 2001 - 500 } }' >data
ask() { everbloom range --seed 1 -m 4M -f 2 "$@" data; status_is 0; silent; }
exact() { awk -v a="$1" -v b="$2" '$2 >= a && $2 <= b' data | wc -l; } # FROM TO

ask --names --from 0 --to 100 --from -500 --to -1 --from 1400 --to 2147483647
printf 'count\tlower\tupper\tfrom\tto\n' >want
for range in '0 100' '-500 -1' '1400 2147483647'; do
    set -- $range
    n=$(exact $range)
    printf '%s\t%s\t%s\t%s\t%s\n' $n $n $n $1 $2 >>want
done
same out want
ask --quantile 0 --quantile 0.5 --quantile 1
cut -f 2 data | sort -n | awk '{ v[NR] = $1 } END { n = split("0 0.5 1", q, " "); for (i = 1; i <= n; i++) { r = NR * q[i]; r = r < 1 ? 1 : r; printf "%d\t%d\t%d\t%s\n", v[r], v[r], v[r], q[i] } }' >want
same out want
ask --json --from 0 --to 100 --quantile 0.5
n=$(exact 0 100)
grep -qx "{\"from\":0,\"to\":100,\"count\":$n,\"lower\":$n,\"upper\":$n}" out || fail "$(shown out)"
grep -qx '{"quantile":0.5,"value":\(-*[0-9]*\),"lower":\1,"upper":\1}' out || fail "$(shown out)"

# In far too little memory, and without room for exact levels, bounds are wide and still hold.
everbloom range -m 10K --min -500 --max 1500 -f 2 --from 7 --to 700 data
status_is 0
awk -v n="$(exact 7 700)" '{ exit !($2 <= n && n <= $3) }' out || fail "$(shown out) does not hold $(exact 7 700)"

# Kept, continued, merged.
head -n 1000 data >one
tail -n +1001 data >two
spec=dyadic:bits=32,keys=i64,memory=4M
for part in one two data; do everbloom range --filter $spec --seed 1 -f 2 --save $part.eb $part; status_is 0; no_output; silent; done
everbloom merge -o both.eb one.eb two.eb; status_is 0
same both.eb data.eb
everbloom range --seed 1 -m 4M -f 2 --state state.eb one; status_is 0
everbloom range --state state.eb -f 2 two; status_is 0
everbloom merge -o plain.eb state.eb; same plain.eb data.eb
everbloom merge state.eb; cmp -n "$(stat -c %s out)" out data.eb || fail "other bytes" # without what the files say about their keys
printf '0\t100\n-500\t-1\n' >ranges
everbloom range --snapshot both.eb --ranges ranges
status_is 0
[ "$(cut -f 1 out | tr '\n' ' ')" = "$(exact 0 100) $(exact -500 -1) " ] || fail "$(shown out)"
everbloom check both.eb; status_is 0
everbloom info both.eb; status_is 0; out_has "keys=i64"
everbloom add --state both.eb < <(printf 'a\n'); status_is 2
err_has 'the keys of this filter are numbers, not text'
everbloom test both.eb < <(printf '0\n'); status_is 2
err_has 'the keys of this filter are numbers, not text'

# Times.
printf '%s\n' time 1970-01-01T00:00:00Z 2024-02-29T23:59:60.75Z 2026-01-31T12:00:00+01:00 1769857200 -1 >times
everbloom range --seed 1 -m 4M --header --values time --bits 64 --from 2024-03-01T00:00:00Z --to 2024-03-01T00:00:00Z \
    --from 2026-01-31T11:00:00z --to '2026-01-31 11:00:00Z' --to 1969-12-31T23:59:59Z --from -9223372036854775808 times
status_is 0; silent
printf '%s\n' '1	1	1	2024-03-01T00:00:00Z	2024-03-01T00:00:00Z' '2	2	2	2026-01-31T11:00:00Z	2026-01-31T11:00:00Z' \
    '1	1	1	-9223372036854775808	1969-12-31T23:59:59Z' >want
same out want

# Weights.
everbloom range --seed 1 -f 1 --weight-field 2 --from 5 --to 6 < <(printf '5\t3\n6\t0\n5\t4\n')
status_is 0
out_is '7\t7\t7\t5\t6\n'

# Whole domains at their ends.
everbloom range -m 1M --values unsigned --bits 64 --from 1 --to 18446744073709551615 < <(printf '0\n18446744073709551615\n')
out_is '1\t1\t1\t1\t18446744073709551615\n'
everbloom range -m 1M --bits 64 --quantile 0 --quantile 1 < <(printf -- '-9223372036854775808\n9223372036854775807\n')
printf -- '-9223372036854775808\t-9223372036854775808\t-9223372036854775808\t0\n9223372036854775807\t9223372036854775807\t9223372036854775807\t1\n' >want
same out want
everbloom range -m 1M --values unsigned --min 18446744073709551000 --max 18446744073709551615 --quantile 1 --on-bad fail < <(printf '99\n100\n')
status_is 2
err_is 'everbloom: standard input: line 1: the value must be 18446744073709550592..18446744073709551615, not 99\n'

# One sentence, nothing on standard output, nothing kept.
refused() { # TEXT INPUT ARGUMENT...
    local text=$1 input=$2; shift 2
    everbloom range --on-bad fail "$@" < <(printf -- "$input")
    status_is 2; no_output
    err_is "everbloom: $text\n"
    [ ! -e kept.eb ] || fail "something was kept"
}
refused 'standard input: line 2: the value must be a whole number, not "2x"' '1\n2x\n' --save kept.eb --from 1 --to 2
refused 'standard input: line 2: the value must be a whole number, not ""' '1\n\n' --save kept.eb
refused 'standard input: line 2: the value must be a whole number, not "1.5" (--values real takes decimals)' '1\n1.5\n' --from 1 --to 2
refused 'standard input: line 1: the value must be a whole number, 0 or more, not "-1"' '-1\n' --values unsigned --from 1 --to 2
refused 'standard input: line 1: the value must be a whole number, not "9223372036854775808"' '9223372036854775808\n' --bits 64 --from 1 --to 2
refused 'standard input: line 1: the value must be -2147483648..2147483647, not 3000000000' '3000000000\n' --from 1 --to 2
refused 'standard input: line 1: the value must be seconds since 1970 or a time such as 2026-01-31T12:00:00Z, not "2026-02-29T00:00:00Z"' '2026-02-29T00:00:00Z\n' --values time --from 1 --to 2
refused 'standard input: line 2: there is no field 2 (fields end at a tab: see -d)' 'a\t1\nb\n' -f 2 --from 1 --to 2
refused 'standard input: line 2: there is no field 2 (fields end at a comma: see -d)' 'a,1\n"b,2"\n' --csv -f 2 --from 1 --to 2
refused '--from must be -128..127, not 200' '' --bits 8 --from 200 --to 201 data
refused '--to must be a whole number, not "x"' '' --from 1 --to x data
refused 'a range must end after its start, not from 5 to 4' '' --from 5 --to 4 data
printf '1 2\n' >bad
refused 'bad: line 1: a range is two values with a tab between' '' --ranges bad data
everbloom range --quantile 0.5 </dev/null; status_is 2; no_output; err_is 'everbloom: there are no values, so there are no quantiles\n'
everbloom add -o bloom.eb <one; everbloom range --snapshot bloom.eb --from 1 --to 2
status_is 2; err_is 'everbloom: bloom.eb: bloom filters cannot answer ranges: use dyadic\n'
misused range '--from and --to: give as many of one as of the other' range --from 1 --from 2 --to 3
misused range '--min and --max: give both of them' range --min 1 --from 1 --to 2
misused range '--quantile must be a number from 0 to 1, not "2"' range --quantile 2
misused range '--values must be signed, unsigned, time or real, not "x"' range --values x --quantile 1
misused range 'the lines and the ranges cannot both come from standard input' range --ranges -
everbloom range -m 1M -f 2 --ranges - data < <(printf '0\t100\n'); status_is 0
[ "$(cut -f 1 out)" = "$(exact 0 100)" ] || fail "$(shown out)"

# Real numbers: quantiles to six digits, of any size and sign; sort is the judge.
awk 'BEGIN { x = 5; for (i = 0; i < 9999; i++) { x = (x * 16807) % 2147483647; u = x / 2147483647; printf "%.9g\n", (u - 0.3) * exp(20 * u - 8) } }' >reals
for q in 0 0.1 0.5 0.9 0.99 1; do
    everbloom range --values real --quantile $q reals; status_is 0; silent
    want=$(sort -g reals | awk -v q=$q '{ v[NR] = $1 } END { i = q * NR; i = i == int(i) ? i : int(i) + 1; print v[i < 1 ? 1 : i] }')
    awk -v w="$want" '{ d = $1 - w; e = 6e-6 * (w < 0 ? -w : w); exit !(d <= e && d >= -e) }' out || fail "quantile $q: $(shown out), not $want"
done
everbloom range --values real --from -0.5 --to 0.25 --from 1 --to 1e99 reals
[ "$(cut -f 1 out | tr '\n' ' ')" = "$(awk '$1 >= -0.5 && $1 <= 0.25 { a++ } $1 >= 1 { b++ } END { print a, b, "" }' reals)" ] || fail "ranges of reals: $(shown out)"
printf '0.5\n-3\n1e3\nnan\n0x10\n 7\n7\n' >few
everbloom range --values real --save r.eb --json --quantile 1 --quantile 0 few
status_is 0; err_has '3 of 7 lines skipped; the first is few: line 4: the value must be a number, not "nan"'
[ "$(value value out | tr '\n' ' ')" = '1000 -3 ' ] || fail "$(shown out)"
everbloom range --snapshot r.eb --quantile 0.5; status_is 0; out_is '0.5\t0.5\t0.5\t0.5\n'
misused range '--values real takes all numbers: no --min, --max or --bits' range --values real --bits 8 --quantile 0.5

# Times in all the ways that logs write them: all of these are one moment, and so is the bound.
printf '%s\n' 1767225600 1767225600000 1767225600000000 1767225600000000000 1767225600.5 2026-01-01 '2026-01-01 00:00:00' \
    2026-01-01T01:00:00+01:00 '01/Jan/2026:00:00:00 +0000' >times
everbloom range --values time -f 1 --from 2026-01-01 --to 1767225600000 times
status_is 0; silent; [ "$(cut -f 1 out)" = 9 ] || fail "$(shown out)"
everbloom range --values time -f 1 --from 2026-01-01 --to 2026-01-01 < <(date -u -d '-1 hour' '+%b %e %H:%M:%S')
status_is 0; silent
