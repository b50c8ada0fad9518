# --save-every: the state is saved on the way, also while no input comes; lines leave before it.
. "$EXPECT"
mkfifo in lines
"$EVERBLOOM" dedup --state s --save-every 2ms -m 64K <in >lines 2>err &
pid=$!
exec 3>in 4<lines
for ((i = 1; i <= 20; i++)); do
    echo "line $i" >&3
    read -r line <&4
    [ "$line" = "line $i" ] || fail "$line came, not line $i"
    until [ -e s ] && "$EVERBLOOM" info --json s >out && [ "$(value items out)" = $i ]; do
        kill -0 $pid || fail "it died: $(shown err)"
    done
done
kill -9 $pid
wait $pid 2>/dev/null
exec 3>&- 4>&-
everbloom dedup --state s < <(printf '%s\n' 'line 20' 'line 21')
status_is 0; out_is 'line 21\n'

# With -o the state waits for the output file, so that no line is lost.
"$EVERBLOOM" dedup --state s2 --save-every 1ms -m 64K -o o2 <in >/dev/null 2>err &
pid=$!
exec 3>in
printf '%s\n' {1..1000} >&3
sleep 0.3 # a state that came too early would be there now
kill -9 $pid
wait $pid 2>/dev/null
exec 3>&-
missing o2
missing s2
