#!/usr/bin/env bash
# --threads: every number of them gives the same bytes, on standard output, standard error and in
# states, for every way to find a key, with bad lines, and with blocks that end anywhere.
source "$EXPECT"
slow

lines=60000
[ "${EVERBLOOM_QUICK:-}" ] && lines=20000
# Lines of many lengths; quotes with line ends inside; broken lines; lines without a field.
awk -v n=$lines 'BEGIN {
    srand(7); print "id,note,user,when"
    for (i = 0; i < n; i++) {
        k = int(rand() * n / 3)
        note = rand() < 0.2 ? "\"a \"\"quoted\"\"\nnote " k "\"" : "plain" substr("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1, k % 30)
        if (rand() < 0.01) print "short"
        else print i "," note "," (rand() < 0.3 ? "\"User " k "\"" : "user" k) "," 1700000000 + i
    }
}' >in.csv
awk -v n=$lines 'BEGIN {
    srand(8)
    for (i = 0; i < n; i++) {
        k = int(rand() * n / 3)
        if (rand() < 0.01) print "{\"broken\":"
        else print "{\"pad\":\"" substr("zzzzzzzzzzzzzzzzzzzz", 1, k % 20) "\",\"user\":{\"id\":\"u\\u0041" k "\"},\"n\":" k ",\"t\":" 1700000000 + i - k % 3 "}"
    }
}' >in.jsonl
tr '\n' ' ' <in.csv | head -c 700000 >long.txt # a line longer than a block
cat in.jsonl >>long.txt

# same_for NAME ARGUMENT...: with 1, 2 and 7 threads.
same_for() {
    local name=$1 n; shift
    for n in 1 2 7; do
        rm -f state.eb
        everbloom "$@" --threads $n
        [ "$status" -lt 128 ] || fail "$name: status $status with $n threads"
        echo "$status" >>out
        sed -i 's/[0-9.]* *[kMG]*i*B\/s//' err
        [ -e state.eb ] && cat state.eb >>out
        mv out out.$n; mv err err.$n
    done
    [ -s out.1 ] || fail "$name: nothing was printed"
    for n in 2 7; do same out.$n out.1; same err.$n err.1; done
}

same_for lines dedup --seed 1 --state state.eb in.jsonl in.csv in.jsonl
same_for names dedup --seed 1 --csv -f user in.csv in.csv
same_for marked dedup --seed 1 --csv -f user,note --mark in.csv
same_for skipped dedup --seed 1 --csv -f -2 --on-bad skip -i --trim in.csv
same_for failed dedup --seed 1 --csv -f 4 --on-bad fail in.csv
same_for json dedup --seed 1 --jsonl -f user.id in.jsonl long.txt in.jsonl
same_for regex dedup --seed 1 --regex '"n":(\d+)' in.jsonl
same_for windows dedup --seed 1 --jsonl -f n --window 30m --time-field t --summary in.jsonl
same_for long dedup --seed 1 long.txt in.csv
same_for full dedup --filter bloom:distinct=1000 --on-full fail --seed 1 in.jsonl
same_for looked dedup --seed 1 -m 16K --items '60000' --distinct 20000 --jsonl -f n in.jsonl
same_for add add --seed 1 --csv -f user -o - --force in.csv
same_for count count --jsonl -f user.id --weight-field n --key uA17 --key uA4711 in.jsonl
same_for distinct distinct --csv -f user --by note in.csv
same_for range range --jsonl -f n --quantile 0.5 --from 10 --to 100 in.jsonl
(head -n 9000 in.csv; echo 'x,"open') >open.csv
same_for unclosed dedup --seed 1 --csv -f 1 open.csv in.csv
err_has() { grep -qF -- "$1" err.1 || fail "no \"$1\""; }
err_has 'has a quote that is not closed'

# From a pipe, a little at a time: nothing waits for a block to be full.
(for i in 1 2 3; do echo "line $i"; sleep 0.2; done; echo "line 1") | "$EVERBLOOM" dedup --threads 3 |
    { read -r -t 2 first; [ "$first" = "line 1" ] || fail "the first line waits"; cat; } >out
out_is 'line 2\nline 3\n'

# Whoever closes the pipe ends it; what cannot be read is an error after all that could be.
"$EVERBLOOM" dedup --threads 4 in.jsonl in.csv | head -n 1 >out
[ "$(wc -l <out)" = 1 ] || fail "head wants one line"
gzip -c in.jsonl | head -c 20000 >torn.gz
same_for torn dedup --seed 1 torn.gz
misused dedup '--threads must be a whole number from 1 to 64, not "65"' dedup --threads 65
misused dedup '--threads must be a whole number from 1 to 64, not "0"' dedup --threads 0
misused corpus '--threads must be a whole number from 1 to 64, not "65"' corpus --threads 65 -o out in
