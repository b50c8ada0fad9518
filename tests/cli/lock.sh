# --state: one run at a time.  A second one is refused in one sentence; nothing of the first is lost.
. "$EXPECT"
mkfifo in
mkdir d
holder() { # holder COMMAND... - a run that has its state open, fed by descriptor 3; $pid
    "$EVERBLOOM" "$@" <in >lines 2>holder.err &
    pid=$!
    exec 3>in
    until [ -s d/s.lock ]; do kill -0 $pid 2>/dev/null || fail "it died: $(shown holder.err)"; done
}
ended() { exec 3>&-; wait $pid || fail "status $? of the first: $(shown holder.err)"; }
refused() { # refused ARGUMENT... - of everbloom
    everbloom "$@" < <(echo other); status_is 2; no_output
    err_is "everbloom: d/s: process $pid is using it; wait for its end, or give another --state\n"
}

# Also when there is no state yet, and while it is replaced all the time.
holder dedup --state d/s --save-every 1ms -m 64K
refused dedup --state d/s
refused add --state d/s --filter lru:memory=64K
refused count --state d/s
refused top --state d/s --at-least 1
for ((i = 1; i <= 50; i++)); do
    echo "line $i" >&3
    "$EVERBLOOM" add --state d/s </dev/null 2>>second.err && fail "a second run got in"
done
[ "$(wc -l <second.err)" -eq 50 ] || fail "$(shown second.err)"
# Whoever only looks at the state is welcome.
until [ -e d/s ]; do :; done
everbloom info d/s; status_is 0
everbloom test d/s --key 'line 1'; [ "$status" -lt 2 ] || fail "$(shown err)"
ended
folder_holds d s
everbloom dedup --state d/s < <(printf 'line %d\n' {1..51}); status_is 0; out_is 'line 51\n'
folder_holds d s

# Other ways to the same file are the same state.
ln -s s d/link
holder dedup --state d/link
refused dedup --state d/s
everbloom dedup --state "$PWD/d/../d/link" </dev/null; status_is 2; err_has "process $pid is using it"
ended

# However a run ends, the lock ends with it: killed, by a signal, by an error, by a closed pipe.
holder dedup --state d/s
kill -9 $pid; wait $pid 2>/dev/null; exec 3>&-
exists d/s.lock
everbloom dedup --state d/s < <(echo 'line 1'); status_is 0; no_output; silent
folder_holds d link s
holder dedup --state d/s
kill -TERM $pid; wait $pid; [ $? -eq 143 ] || fail "$(shown holder.err)"; exec 3>&-
folder_holds d link s
everbloom dedup --state d/s -m 1M </dev/null; status_is 2; err_has 'holds a different filter'
folder_holds d link s
everbloom dedup --state d/s nowhere; status_is 2; folder_holds d link s
{ "$EVERBLOOM" dedup --state d/s < <(seq 1000000) 2>err; echo $? >status; } | :
[ "$(cat status)" -eq 141 ] || fail "status $(cat status)"
folder_holds d link s

# Of many that start at once, each does its work or says that it could not.
for ((i = 0; i < 40; i++)); do
    "$EVERBLOOM" add --state d/many --filter spectral:memory=64K,store=u32 --seed 1 < <(echo key) 2>many.err.$i &
done
wait
cat many.err.* >many.err
refusals=$(grep -c 'using it' many.err)
[ "$(wc -l <many.err)" -eq "$refusals" ] || fail "$(shown many.err)"
everbloom info --json d/many
[ "$(value items out)" -eq $((40 - refusals)) ] || fail "$(value items out) keys, $refusals refusals"
