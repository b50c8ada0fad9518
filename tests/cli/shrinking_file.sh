# A snapshot that becomes shorter while it is mapped: a message and status 2, not a death by SIGBUS.
. "$EXPECT"
everbloom add --filter bloom:memory=1M,k=7,seed=1 -o f < <(seq 1000)
mkfifo in lines
shrunk() { # shrunk COMMAND... - answers a line from the fifo, then the file is cut
    "$EVERBLOOM" "$@" <in >lines 2>err &
    pid=$!
    exec 3>in 4<lines
    echo 7 >&3
    read -r line <&4
    [ "$line" = 7 ] || fail "$line came, not 7"
    : >f
    seq 5000 >&3
    exec 3>&-
    wait $pid
    status=$?
    exec 4>&-
    status_is 2
    err_is 'everbloom: f: the file became shorter while it was in use; write a new file and rename it instead\n'
}
shrunk test f
# A file that is replaced by rename stays as it was for those who use it.
everbloom add --filter bloom:memory=1M,k=7,seed=1 -o f < <(seq 1000)
"$EVERBLOOM" test f <in >lines 2>err &
pid=$!
exec 3>in 4<lines
echo 7 >&3
read -r line <&4
everbloom add --filter bloom:memory=20K,k=7,seed=1 -o f < <(seq 10)
echo 999 >&3
exec 3>&-
read -r line <&4
[ "$line" = 999 ] || fail "$line came, not 999"
wait $pid || fail "status $?: $(shown err)"
