# Started with a standard stream closed, no data file takes its place.
. "$EXPECT"
echo a >in
"$EVERBLOOM" dedup -m 64K in >&- 2>err
status=$?
status_is 2; err_is 'everbloom: standard output: Bad file descriptor\n'
"$EVERBLOOM" dedup -m 64K --state s in >&- 2>err
status=$?
status_is 2
missing s
"$EVERBLOOM" dedup -m 64K <&- >out 2>err
status=$?
status_is 2; err_is 'everbloom: standard input: Bad file descriptor\n'; no_output
"$EVERBLOOM" dedup -m 64K --stats in >out 2>&-
status=$?
status_is 0; out_is 'a\n'
"$EVERBLOOM" kinds >&- 2>err
status=$?
status_is 2; err_is 'everbloom: standard output: Bad file descriptor\n'
