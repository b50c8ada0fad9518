# plan: a question in, a filter out; what is left out is the answer.
. "$EXPECT"
within() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }' || fail "$1 is not in $2..$3"; }
first() { grep -o "\"offers\":\[{[^}]*}" out | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d : -f 2-; }

# Memory: the classic question, a set that is filled and then asked.  1.44 log2(1/0.001) bits a key; less for the mean.
everbloom plan --json --distinct 1e6 --max-fpr 0.1%
status_is 0; silent
within "$(first bytes)" 1790000 1850000
within "$(first fpr)" 0.0009 0.001001
[ "$(first fnr)" = 0 ] || fail "$(shown out)"
cp out set
everbloom plan --json --distinct 1e6 --max-fpr 0.1% --fpr-is end
cmp -s out set || fail "the end is not the default of a set"
everbloom plan --json --distinct 1e6 --max-fpr 0.1% --fpr-is mean
within "$(first bytes)" 1200000 1500000
everbloom plan --distinct 1e9 --max-fpr 0.1%
out_has 'Use bloom with 1.7 GiB: it holds 1e9 distinct keys and takes 1 in 1000 others for one of them (0.1 %); none that was added is missed.'
# A share that is held only where that says something: not 100 %, and the rest missed.
everbloom plan --distinct 1e6 --max-fpr 0.1% --max-fnr 1e-5 --need importance
out_has ': it holds 1e6 distinct keys and takes 1 in '; out_has '; 1 in '; out_has ' that were added is missed.'
everbloom plan --distinct 1e6 --max-fpr 0.1% --max-fnr 40% --need importance
out_has ' % of 1e6 distinct keys and takes 1 in ' ; out_has '; the rest is missed.'

# Number of keys, gap, rates.
everbloom plan --json -m 1M --max-fpr 1%
within "$(value distinct out)" 8.5e5 8.9e5
everbloom plan --json -m 1M --max-fpr 0.1% --endless
within "$(value gap out)" 2e5 5e5
everbloom plan --json -m 1M --distinct 1e6
within "$(first fpr)" 0.017 0.0185
everbloom plan --json -m 64K --items 1e6 --distinct 5e5 --max-fpr 1% --order shuffled
within "$(first fnr)" 0.2 0.95

# What is recommended can be made, and keeps its promise in memory.
everbloom plan --items 1e5 --distinct 5e4 -m 64K --max-fpr 1%
status_is 0; silent
out_has 'Use '; out_has 'new lines at most'
command=$(grep '^  everbloom ' out)
seq 1 50000 >keys
filter=$(echo "$command" | grep -o 'filter [^ ]*' | cut -d ' ' -f 2)
everbloom dedup --filter "$filter" keys
status_is 0
lost=$((50000 - $(wc -l <out)))
[ "$lost" -le 500 ] || fail "$lost of 50000 keys are lost"

everbloom plan -m 64M --items 1e9 --distinct 3e8 --max-fpr 1e-4
out_has ', and of 7e8 repeats about 6.18e8 pass in random order (88.3 %; at worst 100 %, fewer if they are near).'

# Windows of lines and of time; needs.
everbloom plan --json --window 10m --rate 100 --max-fpr 1e-4
[ "$(first kind)" = '"window"' ] || fail "$(shown out)"
everbloom plan --json --need count --distinct 1e5 --items 1e6 --max-fpr 1%
[ "$(first kind)" = '"spectral"' ] || fail "$(shown out)"
everbloom plan --need importance -m 64K --gap 1e4 --max-fpr 1%
out_has 'keep=important'
everbloom plan --explain -m 64K --items 1e6 --distinct 1e5 --max-fpr 1%
out_has 'No offer:'; out_has 'kept as published'
out_has 'window       it needs to know how long the window is: --window or --gap'
out_has "weighted     it needs a class for each key: see 'everbloom weigh'"
out_has 'The order of the lines is not told'
everbloom plan --explain --window 1e5 --max-fpr 1%
out_has 'lru          it guarantees no window'
! grep -q 'The order of the lines' out || fail "$(shown out)"
everbloom plan --explain --distinct 1e6 --max-fpr 1%
out_has '  everbloom add -o keys.eb --filter bloom:'
! grep -q 'The order of the lines' out || fail "$(shown out)"
everbloom plan -m 1M --items 1e7 --distinct 1e6 # a stream: its repeats are to be found
out_has '  everbloom dedup --filter bloom:'

# One sentence for wishes that cannot be kept, or that contradict each other.
everbloom plan -m 4K --items 1e9 --distinct 5e8 --max-fpr 1e-6 --max-fnr 1%
status_is 2; no_output; err_has 'no kind of filter keeps '; err_has 'no structure whatever can with less than'
misused plan '--distinct must not be more than --items' plan --items 10 --distinct 11
misused plan 'a --window of time needs --rate' plan --window 10m --max-fpr 1e-6
misused plan '--gap and --window: give one of them' plan --window 10 --gap 10 --max-fpr 1e-6
misused plan '--endless is without --items and --distinct: give --gap or --window' plan --endless --items 10 --max-fpr 1e-6
misused plan '--need must be count, remove, merge, importance, time or growth, not "fly"' plan --need fly --max-fpr 1e-6 --distinct 10
misused plan 'plan needs -m or --max-fpr' plan
misused plan '--endless with -m needs --max-fpr' plan --endless -m 1M
misused plan 'how far back? --endless needs --gap, --window or -m' plan --endless --max-fpr 1%
misused plan 'filters that weigh importance forget keys: give --gap or --max-fnr' plan --need importance --distinct 1e6 --max-fpr 1%
misused plan 'filters that know the time forget keys: give --window, --gap or --max-fnr' plan --need time --distinct 1e6 --max-fpr 1%
misused plan '--need growth needs --distinct, the keys to start with: it grows when there are more' plan --need growth -m 1M --max-fpr 1%
everbloom plan --need merge --endless -m 1M --max-fpr 1%
status_is 2; no_output; err_has 'no kind of filter that can do what is needed keeps these rates in that memory, not even for repeats that come at once'

# A window of time with few lines takes no more than one of as many lines; shares are written as people say them.
everbloom plan --json --window 60000 --max-fpr 1%
cp out lines
bytes=$(first bytes)
everbloom plan --json --window 10m --rate 100 --max-fpr 1%
[ "$(first bytes)" = "$bytes" ] || fail "$(first bytes) bytes for ten minutes, $bytes for as many lines"
everbloom plan --window 1e6 -m 1M
out_has ': 28.8 % of the new lines are taken for repeats, and no repeat within the window is missed.'
everbloom plan --window 1e6 -m 10M
out_has ': 1 new line in 1.34e8 is taken for a repeat, and no'
everbloom plan --need remove --distinct 1e6 --max-fpr 1%
out_has ' takes 1 in 100 others for one of them (1 %)'
everbloom plan --need remove --gap 1e5 --max-fpr 1%
out_has 'Counts are off by 0.01'; ! grep -q nan out || fail "$(shown out)"
everbloom plan --need growth --distinct 1e6 --max-fpr 1%
out_has ', even after it has grown; none that was added is missed.'
everbloom predict --json "$(sed -n 's/.*--filter \([^ ]*\) .*/\1/p' out)" --distinct 1e12 --items 1e12
rate=$(sed -n 's/.*"fpr":\([0-9.e-]*\).*/\1/p' out)
awk -v r="$rate" 'BEGIN { exit !(r > 0.008 && r < 0.0101) }' || fail "after growth: $rate"
everbloom plan --json --need growth --items 1e6 --max-fpr 1%
out_has 'limit=1000000,'
