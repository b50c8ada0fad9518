# freeze and thaw: the same counts in fewer bytes, read-only; info shows how long counters are.
. "$EXPECT"
slow
counts() { # counts SNAPSHOT - of some keys
    "$EVERBLOOM" count --snapshot "$1" --key 7 --key 49 --key 50 --key none || fail "cannot ask $1"
}
spec=spectral:update=plain,memory=64K,seed=1
everbloom add -o c --filter $spec < <(seq 2000; seq 50; seq 7)
counts c >counted
everbloom freeze -o f c
status_is 0; no_output; silent
[ "$(wc -c <f)" -lt $(($(wc -c <c) / 2)) ] || fail "$(wc -c <f) bytes"
everbloom check f; status_is 0
counts f >out; same out counted
everbloom freeze c; status_is 0; same out f
"$EVERBLOOM" freeze - <c >out; same out f
everbloom info f; status_is 0; out_has "frozen=line"
everbloom thaw -o t f
status_is 0; no_output; silent
counts t >out; same out counted
"$EVERBLOOM" info c t | grep '^filter ' | uniq | wc -l >out; out_is '1\n'
for store in u32 line sai; do
    everbloom thaw --store $store -o t f
    status_is 0
    counts t >out; same out counted
done
everbloom thaw --store line --counter-bits 20 -o t f; status_is 0
everbloom info t; out_has 'bits=20'
everbloom freeze c; cp out f
cp f g; everbloom freeze -o g g; status_is 0; cmp -s g f || fail "freezing again changes bytes"

# Frozen files take no keys, but take part in merges.
cp f before
everbloom add --state f < <(seq 3)
status_is 2; same f before
err_is "everbloom: f: frozen, it takes no more keys; 'everbloom thaw' makes one that does\n"
everbloom add -o d --filter $spec < <(seq 100)
everbloom merge -o m1 c d; status_is 0
everbloom freeze -o fd d; status_is 0
for pair in 'c fd' 'f d' 'f fd'; do
    everbloom merge -o m2 $pair; status_is 0
    counts m1 >counted; counts m2 >out; same out counted
done
same m2 m1

# What info says of counters.
everbloom add -o k --filter spectral:update=plain,k=2,cells=1000,store=u32,seed=1 < <(seq 1; seq 1; seq 1)
everbloom info k
out_has 'bits per counter     32'
out_has '  counters of 0 bits 998 (99.8 %)'
out_has '  counters of 2 bits 2 (0.2 %)'
everbloom info --json k
grep -qF '"counter_lengths":[998,0,2]' out || fail "$(shown out)"
"$EVERBLOOM" info --json k | grep -qF '"bits_per_counter":32' || fail "bits per counter"
everbloom add -o b --filter bloom:memory=64K < <(seq 3)
everbloom info --json b
grep -q counter out && fail "$(shown out)"

# What cannot be.
everbloom freeze -o x b
status_is 2; missing x; err_has 'everbloom: b: bloom filters do not show counters to queries'
everbloom thaw -o x c
status_is 2; missing x; err_is 'everbloom: c: the filter is not frozen\n'
everbloom thaw --store u9 -o x f
status_is 2; missing x; err_has 'store must be one of u32|line|sai|wide, not u9'
head -c 1000 f >cut
everbloom thaw -o x cut
status_is 2; missing x; err_has 'everbloom: cut: damaged snapshot'
everbloom dedup --filter spectral:frozen=line </dev/null
status_is 2; err_has 'eb_convert makes frozen filters'

# Sent through a pipe, and asked where it arrives: the file is mapped, not read.
"$EVERBLOOM" freeze c | cat >arrived
counts c >counted; counts arrived >out; same out counted
