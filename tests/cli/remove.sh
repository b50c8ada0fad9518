# add --remove: keys are taken out again, all of a run or none.
. "$EXPECT"
slow
seq 1 5000 >keys
seq 1001 5000 >rest
counts() { everbloom count --snapshot "$1" "${@:2}"; cut -f 1 out | tr '\n' ' '; }

for filter in spectral_rm:memory=1M spectral:update=plain,memory=1M spectral:update=plain,memory=1M,store=line \
    spectral:update=plain,memory=1M,shards=4 decay:halflife=1e12,memory=1M; do
    rm -f s
    everbloom add --filter $filter --seed 1 --state s keys keys
    status_is 0
    everbloom add --remove --state s rest < /dev/null
    status_is 0; silent; no_output
    [ "$(counts s --key 1 --key 1000 --key 1001 --key 5000)" = '2 2 1 1 ' ] || fail "$filter: $(shown out)"
    cp s before
    # The first key that was never there so often is named, with its file and line.
    { seq 1 700; echo; echo 9999; } >wrong
    everbloom add --remove --state s rest wrong
    status_is 2; no_output; same s before
    err_is 'everbloom: wrong: line 701: "" was never in s so often; nothing is removed\n'
    everbloom add --remove --state s rest < <(cat rest)
    status_is 0
    everbloom add --remove --state s < <(cat keys)
    status_is 2; err_is 'everbloom: standard input: line 1001: "1001" was never in s so often; nothing is removed\n'
done

# What is taken out whole leaves the counts as they were.  Counters that have joined stay joined, which the
# confidence of the lower bound knows.
everbloom add --filter spectral:update=plain,memory=64K --seed 1 --state s1 keys
status_is 0
everbloom add --filter spectral:update=plain,memory=64K --seed 1 --state s2 keys
everbloom add --state s2 rest
everbloom add --remove --state s2 rest
everbloom count --snapshot s1 --queries keys; cut -f 1-3,5- out >one
everbloom count --snapshot s2 --queries keys; cut -f 1-3,5- out >two
same two one

# Weights, and a line of weight 0, which is counted as a line.
printf 'a\t5\nb\t3\n' >weights
everbloom count --removable -m 1M --state w -f 1 --weight-field 2 weights
everbloom add --remove --state w -f 1 --weight-field 2 < <(printf 'a\t2\nb\t0\nb\t3\n')
status_is 0; [ "$(counts w --key a --key b)" = '3 0 ' ] || fail "$(shown out)"
cp w before
everbloom add --remove --state w -f 1 --weight-field 2 < <(printf 'a\t0\na\t0\na\t4\n')
status_is 2; same w before
err_is 'everbloom: standard input: line 3: "a" was never in w so often; nothing is removed\n'
long=$(printf '%0100d' 0)
everbloom add --remove --state w -f 1 < <(echo "$long")
status_is 2; err_is "everbloom: standard input: line 1: \"${long:0:60}...\" was never in w so often; nothing is removed\n"

# A removal that is interrupted changes nothing, so that it can be done again.
{ echo a; sleep 5; } | timeout -s TERM 1 "$EVERBLOOM" add --remove --state w >out 2>err
same w before

# Filters that cannot do it, and wrong usage.
refused() { # refused FILTER
    rm -f r
    everbloom add --filter "$1" --state r keys
    cp r before
    everbloom add --remove --state r keys
    status_is 2; no_output; same r before
    err_is "everbloom: r: keys cannot be taken out of this filter; 'everbloom count --removable' makes one that can\n"
}
refused bloom:memory=64K
refused spectral:memory=64K
refused decay:memory=64K,halflife=1000,update=conservative
refused lru:memory=64K
misused add '--remove needs --state FILE, the filter to take keys out of' add --remove -o x
misused add '--classes is for a new filter: not with --remove' add --remove --state w --classes x
everbloom add --remove --state none keys
status_is 2; err_is 'everbloom: none: No such file or directory\n'
missing none; missing x
