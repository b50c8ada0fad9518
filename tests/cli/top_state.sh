# iceberg --state: a stream in parts is answered as a whole one.
. "$EXPECT"
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
# Below what was kept: some may be missing, and the operands are not all that was counted.
everbloom top --at-least 2 --state s part00
status_is 1; err_has 'may be missing: give more -m, or --rescan FILE'
cp before s
everbloom top --at-least 100 --state s --verify --rescan part00 --rescan part01 --rescan part02 </dev/null
status_is 0
sort all | uniq -c | awk '$1 >= 100 { print $1 "\t" $2 }' | sort >want
sort out >got; same got want; same s before

# Other commands can ask the file, but not add to it.
everbloom check s; status_is 0
everbloom count --snapshot s --key key1
status_is 0
[ "$(cut -f 1 out)" -ge "$(grep -cx key1 all)" ] || fail "key1: $(shown out)"
everbloom count --state s part00
status_is 2; err_is "everbloom: s: a state of 'everbloom top': only that can add to it\n"
same s before
# Nor can iceberg go on from a filter alone, or from another filter.
everbloom count --filter spectral:memory=64K --seed 1 --save f part00
everbloom top --at-least 100 --state f part01
status_is 2; err_is "everbloom: f: a filter without candidates: top cannot go on from it\n"
everbloom top --at-least 100 -m 1M --state s part01
status_is 2; err_has 'holds another filter than the one asked for'

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
{ cat f; echo; } >damaged
everbloom top --at-least 100 --state damaged part01
status_is 2; err_is 'everbloom: damaged: damaged snapshot: there are bytes behind it\n'
misused top '--state is for --at-least and -n, in one reading' top --alert 5 --state s
misused top '--state is for --at-least and -n, in one reading' top --at-least 5 --multiscan --state s
misused top '--verify needs files, or --rescan FILE: the input cannot be read again' top --at-least 5 --verify --state s all
