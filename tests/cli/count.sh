# count: how often keys came, with bounds; filters that are kept and asked later.
. "$EXPECT"
columns() { cut -f "$1" out | tr '\n' ' '; }
lines=$(printf '%s\n' a b a c a b)

# Keys in the order of asking, --key first; keys may be empty, hold tabs, or never have come.
printf 'c\nx\ty\n\nb\n' >queries
{ echo "$lines"; echo; printf 'x\ty\n'; } >in
everbloom count -m 1M --key b --key '' --key never --queries queries in
status_is 0; silent
[ "$(columns 1)" = '2 1 0 1 1 1 2 ' ] || fail "$(shown out)"
[ "$(columns 3)" = '2 1 0 1 1 1 2 ' ] || fail "$(shown out)"
cut -f 6- out >keys; printf 'b\n\nnever\nc\nx\ty\n\nb\n' >want; same keys want
everbloom count -m 1M --names --key a in
out_is 'count\tlower\tupper\tconfidence\thint\tkey\n3\t3\t3\t1\trecurring\ta\n'
everbloom count -m 1M --json --key a --key 'q"' in
out_is '{"key":"a","count":3,"lower":3,"upper":3,"confidence":1,"hint":"recurring"}
{"key":"q\\"","count":0,"lower":0,"upper":0,"confidence":1,"hint":"recurring"}\n'
everbloom count -0 -m 1M --queries <(printf 'a\nb\0') < <(printf 'a\nb\0c\0a\nb\0')
status_is 0; out_is '2\t2\t2\t1\trecurring\ta\nb\0'

# Fields, CSV, weights.  A weight of 0 counts nothing.
printf '"k,1",7\nother,1\n"k,1",5\n"k,1",0\n' >sales.csv
everbloom count -m 1M --csv -f 1 --weight-field 2 --key k,1 --key other --stats sales.csv
status_is 0; [ "$(columns 1)" = '12 1 ' ] || fail "$(shown out)"
grep -qx 'lines  *4' err || fail "$(shown err)"
everbloom count -m 1M -d, -f 1 --weight-field 2 --key a --on-bad fail < <(printf 'a,1\na,x\n')
status_is 2; no_output
err_is 'everbloom: standard input: line 2: the weight must be a whole number 0..4294967295, not "x"\n'
everbloom count -m 1M -d, -f 1 --weight-field 3 --key a --on-bad fail < <(printf 'a,1\n')
status_is 2; no_output
err_is 'everbloom: standard input: line 1: there is no field 3 (fields end at a comma: see -d)\n'
everbloom count -m 1M -d, -f 1 --weight-field 2 --save big.eb < <(printf 'a,4294967295\na,4294967295\n')
everbloom count --snapshot big.eb --key a
[ "$(columns 1)" = '8589934590 ' ] || fail "$(shown out)"
everbloom count -m 1M -d, -f 1 --weight-field 2 --key a --on-bad fail < <(printf 'a,4294967296\n')
status_is 2; no_output

everbloom count -m 1M -d, -f 1 --weight-field 2 --json --key a < <(yes a,4294967295 | head -n 1001)
[ "$(value count out)" = 4299262262295 ] || fail "$(shown out)"

# Kept: with -o, in a state that goes on, through a pipe; asked without a stream, and not changed.
everbloom count -m 1M --save kept.eb in
status_is 0; no_output; silent
cp kept.eb before
everbloom count --snapshot kept.eb --queries queries
status_is 0; [ "$(columns 1)" = '1 1 1 2 ' ] || fail "$(shown out)"
same kept.eb before
everbloom count --snapshot - --key a <kept.eb
status_is 0; [ "$(columns 1)" = '3 ' ] || fail "$(shown out)"
everbloom count --state state.eb -m 1M in
status_is 0; no_output
everbloom count --state state.eb --key a in
status_is 0; [ "$(columns 1)" = '6 ' ] || fail "$(shown out)"
"$EVERBLOOM" count -m 1M --save - in | "$EVERBLOOM" count --snapshot - --key b >out 2>err
[ "$(columns 1)" = '2 ' ] || fail "$(shown out)"
everbloom add --filter spectral:memory=1M --seed 3 -o added.eb in
everbloom count --filter spectral:memory=1M --seed 3 --save counted.eb in
same counted.eb added.eb

# Other filters that count.  What a kind cannot say is -, or null.
everbloom count --removable -m 1M --key a in
status_is 0; [ "$(columns 1)" = '3 ' ] || fail "$(shown out)"
everbloom count --removable -m 1M --save removable.eb in
everbloom info removable.eb
out_has 'spectral_rm:k=5,method=rmx'
everbloom count --filter decay:memory=1M,halflife=1e12 --key a --key never in
status_is 0; cut -f 2- out >rest; printf -- '-\t-\t-\t-\ta\n-\t-\t-\t-\tnever\n' >want; same rest want
everbloom count --filter decay:memory=1M,halflife=1e12 --json --key never in
out_is '{"key":"never","count":0,"lower":null,"upper":null,"confidence":null}\n'

# Against exact counts: never too low, hardly ever too high, lower bounds as good as they say.
awk 'BEGIN { srand(7); for (i = 0; i < 60000; i++) print int(3000 * rand() * rand()) }' >stream
sort stream | uniq -c | awk '{ print $2 "\t" $1 }' | sort >exact
cut -f 1 exact >distinct
everbloom count -m 24K --seed 1 --queries distinct stream
paste exact out | awk '{ low += $3 < $2; wrong += $3 != $2; bound += $4 <= $2; upper += $5 < $2; p += $6; q += 1 - $6 }
    END { exit !(low == 0 && upper == 0 && wrong > 0 && wrong < 0.1 * NR && bound >= p - 3 * sqrt(q) - 1) }' ||
    fail "counts are not what they promise"
everbloom count --filter spectral:update=plain,cells=1000,store=u32,seed=1 --queries distinct stream
paste exact out | awk '{ low += $3 < $2; single += $7 == "single" } END { exit !(low == 0 && single > NR / 2) }' ||
    fail "counts in a tiny filter are not what they promise"
everbloom count --filter spectral:cells=200,store=line,counter_bits=3 --seed 1 --key 1 --key 2 stream
status_is 1; err_has ' counters are full, so counts may be far too high'; [ "$(columns 1)" != '281474976710655 ' ] || fail "$(shown out)"

# Nothing to count.
everbloom count -m 1M --key a </dev/null
status_is 0; [ "$(columns 1)" = '0 ' ] || fail "$(shown out)"
everbloom count -m 1M --queries /dev/null in
status_is 0; no_output; silent

# Trouble: before anything is printed.
misused count 'nothing to do: ask with --key or --queries, or save with --save or --state' count in
misused count '--save and --state: give one of them' count --save x --state y
misused count 'the snapshot and the answers cannot both go to standard output' count --key a --save -
misused count 'the lines and the queries cannot both come from standard input' count --queries -
misused count 'the snapshot and the queries cannot both come from standard input' count --queries - --snapshot -
misused count '--snapshot only queries a filter: give no FILE, or use --state' count --snapshot kept.eb --key a in
misused count '--snapshot only queries a filter: leave out the options that make or save one' count --snapshot kept.eb --key a -m 1M
misused count '--removable chooses a filter: not with --filter' count --removable --filter spectral --key a
misused count '--names and --json: give one of them' count --names --json --key a
misused count 'count needs a filter that counts, such as spectral' count --filter bloom --key a
misused add '--weight-field needs a filter that counts, such as spectral' add --weight-field 1
everbloom add -m 64K -o bloom.eb in
everbloom count --snapshot bloom.eb --key a
status_is 2; no_output; err_is 'everbloom: bloom.eb: this kind of filter does not count\n'
everbloom count -m 1M --queries none in
status_is 2; no_output; err_is 'everbloom: none: No such file or directory\n'
everbloom count -m 1M --key a none
status_is 2; no_output; err_is 'everbloom: none: No such file or directory\n'
missing x

# Sums of weights are large, and there is room for them.
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "k%d\t%d\n", i, 60000 + i }' >heavy
cut -f 1 heavy >keys
for removable in '' --removable; do
    everbloom count $removable -f 1 --weight-field 2 -m 1M --seed 1 --queries keys heavy
    status_is 0; silent
    awk '{ print $6 "\t" $1 }' out >sums
    same sums heavy
done

# A reader who leaves early ends it quietly.
seq 200000 >many
set -o pipefail
"$EVERBLOOM" count -m 1M --queries many in 2>err | head -n 1 >out
[ "${PIPESTATUS[0]}" -eq 141 ] || fail "a closed pipe does not end count"
silent
