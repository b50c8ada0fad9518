# Counters that overflow: never a number that cannot be, exit status 1, and shown in reports.
. "$EXPECT"
slow
# By default there is room for what was too much: a key that comes 70000 times in a window, 3000 keys of 300 lines.
yes x | head -n 70000 >hot
everbloom count --window 1h --key x --seed 1 hot
status_is 0; silent; [ "$(cut -f 1 out)" = 70000 ] || fail "$(shown out)"
seq 3000 | awk '{ for (i = 0; i < 300; i++) print }' >many
everbloom count --half-life 30d -m 2M --queries <(seq 3000) --seed 1 many
awk '$1 < 299 || $1 > 310 { bad++ } END { exit bad > 0 }' out || fail "counts that fade: $(sort -g out | tail -n 3)"
status_is 0; silent
# Where there is none it is said.
full() { # full COMMAND... - has status 1, says so, and prints no count above 1e9
    everbloom "$@"
    status_is 1; err_has 'full'
    grep -qE '(^|[^0-9.])[0-9]{10,}|e\+(09|[1-9][0-9])' out && fail "a count that cannot be: $(shown out)"
    return 0
}
full count --filter decay:mode=optimised,large=100,factor=0.9,period=1e9,memory=64K --seed 1 --queries <(seq 3000) many
full count --filter spectral:store=line,cells=10000 --seed 1 --queries <(seq 3000) --save f many
grep -q '^inf	' out || fail "$(shown out)"
full count --snapshot f --queries <(seq 3000)
full count --snapshot f --queries <(seq 3000) --json
grep -q '"count":null' out || fail "$(shown out)"
everbloom info f; status_is 0; awk '/^full counters/ { n = $3 } END { exit !(n > 0) }' out || fail "$(shown out)"
everbloom count --filter spectral:store=line,cells=10000 --seed 1 --key 1 --stats many
status_is 1; awk '/^full counters/ { n = $3 } END { exit !(n > 0) }' err || fail "$(shown err)"
full top --filter spectral:store=line,cells=10000 --seed 1 --alert 1000 many
full sum --filter spectral:store=line,cells=30000,counter_bits=4,update=plain,span=0 --key 1 --seed 1 many
full join --estimate --filter spectral:store=line,cells=3000,seed=1 -o joined many many
