# A closed pipe ends the program quietly, by SIGPIPE; the state stays as it was saved last.
. "$EXPECT"
everbloom dedup --state s -m 64K < <(echo first)
cp s before
"$EVERBLOOM" dedup --state s < <(exec seq 10000000 2>/dev/null) 2>err | head -n 2 >out
status=${PIPESTATUS[0]}
status_is 141; silent; out_is '1\n2\n'
same s before

# The same where the parent ignores SIGPIPE, as some do.
(trap '' PIPE; "$EVERBLOOM" dedup -m 64K < <(exec seq 10000000 2>/dev/null) 2>err; echo $? >code) | head -n 2 >out
status=$(cat code)
status_is 141; silent; out_is '1\n2\n'

# A pipe that nobody reads any more.
mkfifo pipe
exec 3<>pipe 4>pipe 3>&-
for words in --help 'dedup --help' kinds '--generate bash'; do
    status=0
    "$EVERBLOOM" $words >&4 2>err || status=$?
    status_is 141; silent
done
exec 4>&-
