# predict: the mathematics, for people and for machines.
. "$EXPECT"
everbloom predict stable:memory=64M,fpr=0.001
status_is 0; silent
out_has 'filter               stable:'
out_has 'false positive rate  0.001'
everbloom predict --json stable:memory=64M,fpr=0.001 --gap 1e6
awk -v fpr="$(value fpr out)" -v fnr="$(value fnr out)" 'BEGIN { exit !(fpr > 0.00099 && fpr < 0.00101 && fnr == 0) }' ||
    fail "$(shown out)"
everbloom predict --json bloom:memory=1M,k=4 --items 1M --distinct 500K
[ "$(value fnr out)" = 0 ] || fail "$(shown out)"
half=$(value fpr out)
everbloom predict --json bloom:memory=1M,k=4 --items 500K
[ "$(value fpr out)" = "$half" ] || fail "repeats count: $(value fpr out) and $half"

# Without a stream: what the spec is planned for, or an endless one; and it says so.
everbloom predict bloom:distinct=1e6,fpr=0.001
out_has 'stream               1e6 keys, all distinct'; out_has 'false positive rate  0.0009997'
everbloom predict bloom:memory=1M
out_has 'stream               endless'; out_has 'false positive rate  1'
everbloom predict lru:memory=1M --items 3e6 --distinct 552820
out_has 'stream               3e6 keys, 5.53e5 distinct'

everbloom predict stable:memroy=64M
status_is 2; no_output; err_has 'everbloom: stable: no option "memroy"; did you mean "memory"?'
misused predict '--distinct must not be more than --items' predict stable --items 10 --distinct 11

# Counting filters: errors of counts, and the bits to ask for.
everbloom predict --json spectral:cells=7150,update=plain,store=line --items 100K --distinct 1000 --zipf 0.5
awk -v wrong="$(value wrong out)" -v error="$(value error out)" -v bits="$(value bits out)" \
    'BEGIN { exit !(wrong > 0.031 && wrong < 0.034 && error > 10 && error < 12 && bits > 6 && bits < 9) }' ||
    fail "$(shown out)"

# Too little memory: the least that will do is named, and does.
for spec in dyadic: dyadic:bits=64,shards=2, spectral:shards=64, spectral:store=line,shards=64, \
    spectral:store=u32,shards=64, spectral:store=sai,shards=64,; do
    everbloom predict "${spec}memory=1K"
    status_is 2; no_output; err_has 'memory must be at least '
    least=$(sed 's/.*at least \([0-9]*\) here, not 1024$/\1/' err)
    everbloom predict "${spec}memory=$least"; status_is 0
    everbloom predict "${spec}memory=$((least - 1))"; status_is 2
done

for wish in bloom:distinct=1e6,fpr=1e-6 bloom:distinct=1e5,fpr=1e-3,layout=line,shards=4 \
    bloom:distinct=1e6,fpr=1e-6,shards=8 lru:remember=1e6 lru:remember=1e6,keep=important,shards=2; do
    everbloom predict "$wish,memory=2K"
    status_is 2; no_output; err_has 'memory must be at least '
    least=$(sed 's/.*at least \([0-9]*\) for .*/\1/' err)
    everbloom predict "$wish,memory=$least"; status_is 0
    everbloom predict "$wish,memory=$((least - 1))"; status_is 2
done
everbloom predict bloom:distinct=1e6,fpr=1e-6,cells=1000
status_is 2; err_has 'bloom: cells must be at least '
for wish in window:window=1e6,fpr=1e-6 window:window=1e5,fpr=1e-3,shards=4; do
    everbloom predict "$wish,memory=8K"
    status_is 2; no_output
    everbloom predict "$wish,memory=$(sed 's/.*at least \([0-9]*\) for .*/\1/' err)"; status_is 0
done

# Several filters; memory; curves in the terminal, as a picture, as numbers.
everbloom predict --json bloom:memory=1M lru:memory=2M
[ "$(wc -l <out)" = 2 ] || fail "$(shown out)"
everbloom predict bloom:memory=1M
out_has 'memory               1.0 MiB'
everbloom predict --plot --items 1e6 bloom:memory=1M lru:memory=1M --svg curves.svg
status_is 0; silent
out_has 'false negatives'
grep -q '^<svg ' curves.svg && grep -q '^</svg>' curves.svg || fail "$(shown curves.svg)"
everbloom predict lru:memory=64M --gap 1e7
out_has 'false positive rate  1.192e-6'
everbloom predict --plot --over gap lru:memory=1M
[ "$(grep -n '^ *[0-9].* │' out | sed 's/ │.*//; s/: */ /' | head -n 3 | tr '\n' ' ')" = '2 2e-6 8 1e-6 14 0 ' ] || fail "$(shown out)"
[ "$(grep -c '^       1 │' out)" = 1 ] || fail "$(shown out)"
for over in stream memory gap; do
    everbloom predict --json --over $over --items 1e6 --distinct 1e5 bloom:k=4
    [ "$(value over out)" = "$over" ] || fail "$(shown out)"
done
everbloom predict --plot --over memory bloom:k=4,cells=64000
status_is 2; err_has 'no curve over memory'
