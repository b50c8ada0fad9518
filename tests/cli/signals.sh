# SIGINT and SIGTERM: the lines read are finished, the state is saved, status 130 or 143.
. "$EXPECT"
mkfifo in lines

interrupted() { # interrupted SIGNAL STATUS - after two lines went through
    local signal=$1 want=$2
    rm -f s
    "$EVERBLOOM" dedup --state s -m 64K <in >lines 2>err &
    pid=$!
    exec 3>in 4<lines
    printf 'one\ntwo\n' >&3
    read -r line <&4
    read -r line <&4
    [ "$line" = two ] || fail "$line came, not two"
    kill -"$signal" $pid
    wait $pid
    status=$?
    exec 3>&- 4>&-
    status_is "$want"
    silent
    everbloom dedup --state s < <(printf 'one\ntwo\nthree\n')
    status_is 0; out_is 'three\n'
}
interrupted INT 130
interrupted TERM 143
interrupted HUP 129

# Waiting for the first input, too.  From the start signals end the command at once; when USR1 is handled, they stop the stream.
catches() { # catches SIGNAL: waits until the command handles it
    until (($((16#$(awk '/^SigCgt/ { print $2 }' /proc/$pid/status))) >> ($(kill -l "$1") - 1) & 1)); do kill -0 $pid 2>/dev/null || return; done
}
"$EVERBLOOM" dedup -m 64K --state fresh <in 2>err &
pid=$!
exec 3>in
catches USR1
kill -TERM $pid
wait $pid
status=$?
exec 3>&-
status_is 143
exists fresh

# Without a state half an output file is of no use: there is none.
mkdir d
"$EVERBLOOM" dedup -m 64K -o d/out <in 2>err &
pid=$!
exec 3>in
catches USR1
echo a >&3
kill -INT $pid
wait $pid
status=$?
exec 3>&-
status_is 130
[ -z "$(ls -A d)" ] || fail "left behind: $(ls -A d)"

# A signal is not swallowed while a filter is planned, however long that takes.
"$EVERBLOOM" dedup --items 1e15 --distinct 1e15 <in >out 2>err &
pid=$!
exec 3>in
catches INT
kill -INT $pid 2>/dev/null
for ((i = 0; i < 500; i++)); do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
kill -9 $pid 2>/dev/null && fail "SIGINT was swallowed"
wait $pid
status=$?
exec 3>&-
[ "$status" -eq 130 ] || [ "$status" -eq 2 ] || fail "status $status"

# Statistics are printed all the same.
"$EVERBLOOM" dedup -m 64K --json <in >lines 2>err &
pid=$!
exec 3>in 4<lines
echo a >&3
read -r line <&4
kill -INT $pid
wait $pid
status=$?
exec 3>&- 4>&-
status_is 130
[ "$(value lines)" = 1 ] || fail "no statistics: $(shown err)"

# nohup is respected.
(trap '' HUP; exec "$EVERBLOOM" dedup -m 64K <in >lines 2>err) &
pid=$!
exec 3>in 4<lines
echo a >&3; read -r line <&4
kill -HUP $pid
echo b >&3; read -r line <&4
[ "$line" = b ] || fail "it did not go on"
exec 3>&- 4>&-
wait $pid || fail "status $?"
