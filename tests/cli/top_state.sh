# top --state: a stream in parts is answered as a whole one.
. "$EXPECT"
slow
awk 'BEGIN { srand(1); for (i = 0; i < 60000; i++) print "key" int(exp(rand() * log(20000))) }' >all
split -n l/3 -d all part
everbloom top --seed 1 -m 256K --at-least 100 all
status_is 0; cp out whole
for i in 0 1 2; do
    everbloom top --seed 1 -m 256K --at-least 100 --state s "part0$i"
    status_is 0; silent
done
same out whole
# Without options the state knows its memory; nothing new changes nothing.
cp s before
everbloom top --at-least 100 --state s </dev/null
status_is 0; same out whole; same s before
# Shares are of all lines so far.
everbloom top --at-least 1% --state s </dev/null
awk '$1 < 600 { exit 1 }' out && [ -s out ] || fail "1 %: $(shown out)"
# Below what is kept: some may be missing, and the operands are not all that was counted.
everbloom top --seed 1 -m 8K --at-least 2 --state small part00
status_is 1; err_has 'may be missing: give more -m, or --rescan FILE'
cp before s
everbloom top --at-least 100 --state s --verify --rescan part00 --rescan part01 --rescan part02 </dev/null
status_is 0
sort all | uniq -c | awk '$1 >= 100 { print $1 "\t" $2 }' | sort >want
sort out >got; same got want; same s before

# The file is a filter as others are: it can be checked, asked, added to and merged.
everbloom check s; status_is 0
everbloom count --snapshot s --key key1
status_is 0
[ "$(cut -f 1 out)" -ge "$(grep -cx key1 all)" ] || fail "key1: $(shown out)"
everbloom top --seed 1 -m 256K --state one part00; everbloom count --state two --filter top:memory=256K --seed 1 part01
status_is 0
everbloom merge -o both one two; status_is 0
everbloom top -n 5 --state both part02; status_is 0
head -n 5 whole >want; same out want
# top cannot go on from a filter without keys, or from another filter.
everbloom count --filter spectral:memory=64K --seed 1 --save f part00
everbloom top --at-least 100 --state f part01
status_is 2; err_has 'top needs a filter of the kind top, which keeps keys'
everbloom top --at-least 100 -m 1M --state s part01
status_is 2; err_has 'holds a different filter'
# Keys are made as they always were.
everbloom top --state s -f 1 -d y part01
status_is 2; err_has 'its keys are from '; same s before

# Counts that fade go on as well.
awk '{ print int(NR / 100) "\t" $0 }' all >timed; split -n l/3 -d timed time
for how in '--half-life 100s' '--window 100s'; do
    everbloom top $how -m 256K --time-field 1 -f 2 -n 9 timed; status_is 0; cp out whole
    rm -f t
    for i in 0 1 2; do everbloom top $how -m 256K --time-field 1 -f 2 -n 9 --state t "time0$i"; status_is 0; done
    same out whole
done

# Damage is found wherever it is.
size=$(stat -c %s s)
for at in $((size - 1)) $((size - 40)) $((size - 5000)); do
    cp s damaged
    printf '\377' | dd of=damaged bs=1 seek="$at" conv=notrunc status=none
    cmp -s s damaged && continue
    everbloom top --at-least 100 --state damaged part01
    status_is 2; err_has 'everbloom: damaged: damaged '
    everbloom check damaged; status_is 1
done
head -c $((size - 1)) s >damaged
everbloom top --at-least 100 --state damaged part01
status_is 2; err_has 'everbloom: damaged: damaged '
{ cat s; echo; } >damaged
everbloom top --at-least 100 --state damaged part01
status_is 2; err_is 'everbloom: damaged: damaged snapshot: there are bytes after its end\n'
misused top '--state is for --at-least and -n' top --alert 5 --state s
misused top '--verify needs files, or --rescan FILE: the input cannot be read again' top --at-least 5 --verify --state s all
