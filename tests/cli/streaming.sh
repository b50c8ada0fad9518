# Lines are passed on when no more input is at hand: nobody waits for a full buffer.
. "$EXPECT"
mkfifo in lines
"$EVERBLOOM" dedup -m 1M <in >lines 2>err &
pid=$!
exec 3>in 4<lines
for word in one two three; do
    printf '%s\n' $word >&3
    read -r got <&4 || fail "no line"
    [ "$got" = $word ] || fail "$got came, not $word"
done
# Half a line is no line yet.
printf 'fo' >&3
printf 'ur\n' >&3
read -r got <&4
[ "$got" = four ] || fail "$got came, not four"
exec 3>&-
wait $pid || fail "status $?"
[ ! -s err ] || fail "standard error: $(shown err)"
