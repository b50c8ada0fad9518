# top --at-least: the keys that came often; complete, exact after --verify, with sqlite3 as the judge.
. "$EXPECT"
slow
keys_of() { sort out >sorted; same sorted "$1"; }

# Streams with known answers: lines "key<TAB>weight", Zipf-like, and all keys alike.
generate() { # generate SEED LINES KEYS POWER
    awk -v seed="$1" -v lines="$2" -v keys="$3" -v power="$4" 'BEGIN {
        x = seed
        for (i = 0; i < lines; i++) {
            x = (x * 16807) % 2147483647; r = 1
            for (j = 0; j < power; j++) { x = (x * 16807) % 2147483647; r *= x / 2147483647 }
            printf "%s%d\t%d\n", x % 2 ? "user " : "host/", int(keys * r), x % 5
        }
    }'
}
judge() { # judge SQL - on the table t(a, w) of the file stream
    sqlite3 -tabs -cmd '.mode tabs' -cmd 'create table t(a text, w integer)' -cmd '.import stream t' :memory: "$1" |
        sort >want
}

for seed in 1 2 3; do
    for power in 1 2 4; do
        generate $seed 30000 3000 $power >stream
        for at_least in 5 40 300; do
            judge "select count(*), a from t group by a having count(*) >= $at_least"
            cp want exact
            # One pass: nothing is missing, nothing is counted too low.
            for memory in 12K 200K 4M; do
                everbloom top -q -f 1 --at-least $at_least -m $memory --seed $seed <stream
                if [ "$status" = 1 ]; then
                    err_has 'times may be missing: give more -m, or --rescan FILE'
                    first=$(sed 's/.* to \([0-9]*\) times.*/\1/' err)
                    awk -v least=$first '$1 > least' exact >certain
                else
                    status_is 0; silent; cp exact certain
                fi
                join -t "$(printf '\t')" -1 2 -2 2 -a 1 -o 1.1,2.1 <(sort -t "$(printf '\t')" -k 2 certain) \
                    <(sort -t "$(printf '\t')" -k 2 out) | awk '$2 == "" || $2 < $1' >lost
                [ ! -s lost ] || fail "seed $seed, power $power, T $at_least, $memory: keys are lost"
            done
            # Exact: by verification, and by a second reading of keys that did not fit at first.
            everbloom top -f 1 --at-least $at_least -m 4M --seed $seed --verify stream
            status_is 0; silent; keys_of exact
            everbloom top -f 1 --at-least $at_least -m 4M --seed $seed --verify --rescan stream <stream
            status_is 0; keys_of exact
            everbloom top -q -f 1 --at-least $at_least -m 4K --seed $seed --verify stream
            status_is 0; silent; keys_of exact
            everbloom top -q -f 1 --at-least $at_least -m 12K --seed $seed stream
            status_is 0; silent
            cut -f 2 out | sort | comm -13 - <(cut -f 2 exact | sort) >lost
            [ ! -s lost ] || fail "seed $seed, power $power, T $at_least: keys are lost by reading again"
            # Alerts: each once, all of them.
            everbloom top -f 1 --alert $at_least -m 1M --seed $seed <stream
            status_is 0; silent
            cut -f 2 out | sort >named
            [ -z "$(uniq -d named)" ] || fail "a key is named twice"
            [ -z "$(comm -23 <(cut -f 2 exact | sort) named)" ] || fail "an alert is missed"
        done
        judge "select sum(w), a from t group by a having sum(w) >= 100"
        cp want exact
        everbloom top -f 1 --weight-field 2 --at-least 100 --verify -m 1M stream
        status_is 0; keys_of exact
        judge "select count(*), a from t group by a having count(*) >= 0.005 * (select count(*) from t)"
        cp want exact
        everbloom top -f 1 --at-least 0.5% --verify -m 1M stream
        status_is 0; keys_of exact
    done
done

# In far less memory than the keys need, with most of them in temporary files.
generate 5 60000 40000 2 >stream
judge "select count(*), a from t group by a having count(*) >= 2"
cp want exact
everbloom top -f 1 --at-least 2 -m 4K --verify --seed 1 stream
status_is 0; keys_of exact

# Most frequent first; several thresholds, each answered; names of columns; JSON; NUL.
printf '%s\n' a b a c a b >in
everbloom top --at-least 2 in
status_is 0; silent; out_is '3\ta\n2\tb\n'
everbloom top --at-least 50% --at-least 1 --names in
out_is 'at least\tcount\tkey\n1\t3\ta\n1\t2\tb\n1\t1\tc\n50%%\t3\ta\n'
everbloom top --at-least 3 --json in
out_is '{"key":"a","count":3,"lower":3,"share":0.5,"exact":true}\n'
everbloom top --at-least 3 --at-least 1M --json --verify in
out_is '{"at_least":"3","key":"a","count":3,"lower":3,"share":0.5,"exact":true}\n'
everbloom top --bounds --names in
out_is 'count\tlower\tkey\n3\t3\ta\n2\t2\tb\n1\t1\tc\n'
everbloom top -n 1 --at-least 1 --at-least 2 in
out_is '1\t3\ta\n2\t3\ta\n'
everbloom top -0 --at-least 2 < <(printf 'x\ny\0z\0x\ny\0')
out_is '2\tx\ny\0'
everbloom top --csv -f 2 --header --at-least 2 < <(printf 'n,name\n1,"a ""b"""\n2,c\n3,"a ""b"""\n')
out_is '2\ta "b"\n'
everbloom top --alert 2 --names in
out_is 'count\tkey\n2\ta\n2\tb\n'
everbloom top --alert 3 --json in
out_is '{"key":"a","count":3,"lower":0,"exact":false}\n'
everbloom top --at-least 1 --stats in
err_has 'watermark            0'
for input in /dev/null /dev/stdin; do
    everbloom top --at-least 1% $input </dev/null
    status_is 0; no_output; silent
done

# The same answers however the input comes in.
generate 9 30000 5000 3 >stream
everbloom top -f 1 -m 20K --seed 4 --at-least 90 <stream
cp out whole; cp err said
everbloom top -f 1 -m 20K --seed 4 --at-least 90 < <(head -c 10001 stream; sleep 0.1; tail -c +10002 stream)
same out whole; same err said

# An alert comes at once, not at the end of the stream.
mkfifo pipe
"$EVERBLOOM" top --alert 2 <pipe >alerts 2>err &
exec 7>pipe
printf 'a\na\n' >&7
for _ in $(seq 100); do [ -s alerts ] && break; sleep 0.1; done
[ "$(cat alerts)" = "$(printf '2\ta')" ] || fail "no alert while the stream goes on"
exec 7>&-
wait

# What cannot be promised is said; what is wrong is one sentence, before anything is printed.
generate 2 30000 9000 1 >stream
everbloom top -f 1 --at-least 2 -m 8K --seed 1 <stream
status_is 1; err_has 'everbloom: keys that occur up to '
everbloom top -f 1 --at-least 2 -m 8K --seed 1 stream
status_is 0; err_has 'everbloom: the list is complete above '; err_has ' only: reading the input again'
everbloom top -f 1 --at-least 2 --filter spectral:memory=64K stream
status_is 2; no_output; err_has 'top needs a filter of the kind top, which keeps keys'
head -n 100 stream >part
everbloom top -f 1 --at-least 2 --verify --rescan part stream
status_is 2; no_output
err_is 'everbloom: the input is not the same when read again: 30000 keys at first, now 100\n'
everbloom top -f 3 --at-least 2 --on-bad fail stream
status_is 2; no_output; err_has 'everbloom: stream: line 1: '
everbloom top -f 1 --weight-field 1 --at-least 2 --on-bad fail stream
status_is 2; no_output; err_has 'the weight must be a whole number 0..4294967295'
everbloom top --at-least 2 none
status_is 2; no_output; err_is 'everbloom: none: No such file or directory\n'
everbloom top --at-least 2 --rescan none in
status_is 2; no_output; err_is 'everbloom: none: No such file or directory\n'
everbloom top --at-least 2 --filter bloom in
status_is 2; no_output
seq 5000 >many
everbloom top --alert 1 -m 64K many
status_is 2; err_has 'no memory to remember more printed keys: give more -m, or a larger --alert'
misused top '--alert prints keys as they come: leave out --at-least and -n' top --at-least 2 --alert 3
for bad in 0 0.5 -1 x '' 0% 101% % 1%% 3e14; do
    misused top "--at-least must be a count from 1 to 2.8e14 or a share up to 100%, not \"$bad\"" top --at-least="$bad"
done
misused top '--alert must be a count from 1 to 2.8e14, not 0.5' top --alert 0.5
misused top '--verify needs files, or --rescan FILE: the input cannot be read again' top --at-least 5 --verify
misused top '--names and --json: give one of them' top --at-least 5 --names --json in

misused top '--alert reads its input once: leave out --verify and --rescan' top --alert 5 --verify
misused top '--verify needs files, or --rescan FILE: the input cannot be read again' top --at-least 5 --verify
everbloom top -m 1K in
status_is 2; no_output; err_has 'top: memory=1024 is too small'

# Sums of weights are large, and there is room for them.
awk 'BEGIN { for (i = 0; i < 6000; i++) printf "k%d\t%d\n", i % 3000, i % 3000 == 7 ? 45000 : 30000 }' >heavy
everbloom top -f 1 --weight-field 2 --at-least 80000 -m 1M --seed 1 heavy
status_is 0; silent; out_is '90000\tk7\n'
everbloom top -f 1 --weight-field 2 --alert 80000 -m 1M --seed 1 heavy
status_is 0; silent; out_is '90000\tk7\n'
everbloom top -f 1 --weight-field 2 --alert 80000 --seed 1 --filter spectral:cells=40000,store=line,counter_bits=8 heavy
status_is 1; err_has ' counters are full, so counts may be far too high'

# A long key is known by all of its bytes, though the list has only the first of them.
awk 'BEGIN { s = sprintf("%300s", ""); gsub(" ", "x", s); for (i = 0; i < 9; i++) print s i % 2 }' >long
everbloom top -m 16K long
status_is 0; err_is 'everbloom: 2 keys are too long for the list, which has only the first bytes: give more -m, or --filter top:key_bytes=BYTES\n'
[ "$(cut -f 1 out | tr '\n' ' ')" = '5 4 ' ] || fail "long keys: $(shown out)"
everbloom top -m 16K --verify long
status_is 0; silent
awk 'NR == 1 { exit !(length($2) == 301 && $1 == 5) }' out || fail "long keys read again: $(shown out)"

# The same output for any number of threads.
everbloom top -f 1 -m 20K --at-least 20 stream; cp out whole
everbloom top -f 1 -m 20K --at-least 20 --threads 3 stream; same out whole

# A reader who leaves early ends it quietly.
set -o pipefail
seq 200000 | "$EVERBLOOM" top --at-least 1 2>err | head -n 1 >out
[ "${PIPESTATUS[1]}" -eq 141 ] || fail "a closed pipe does not end top"
silent

# A spec of the kind top is what top takes by itself; other kinds keep no keys.
printf 'a\nb\na\n' >in
for how in --bounds --verify --json --stats '--at-least 50%' '--state s.eb' '--alert 2'; do
    rm -f s.eb
    everbloom top --filter top:memory=1M $how in
    status_is 0; grep -q a out || fail "$how: $(shown out)"
done
misused top 'top needs a filter of the kind top, which keeps keys' top --filter spectral in
