# everbloom corpus: more units than planned are told at once, and --on-full and -m do what they say.
. "$EXPECT"
slow
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
# The sample is of every second file, and sees long texts only: the short ones are more than planned.
mkdir in
for i in $(seq 10 41); do echo '{"text":"'$i $(seq -s' ' 3000)'"}' >in/$i.jsonl; done
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "{\"text\":\"%d\"}\n", i }' >in/13.jsonl
# The plan is for fewer keys than one in a hundred of the excess; the first line told must be right behind it.
told() { # WHAT: the message has it; the line that it names is within 1 % of what was planned
    local planned line
    err_has "$1"
    planned=$(sed -n 's/.* more than the \([0-9.e+]*\) keys.*/\1/p' err); line=$(sed -n 's/.*13.jsonl: line \([0-9]*\).*/\1/p' err)
    awk -v p="$planned" -v l="$line" 'BEGIN { exit !(l + 2 >= p && l <= p * 1.01) }' || fail "planned $planned, told at line $line"
}
everbloom corpus in -o grow; status_is 0; told 'the filter grows, and keeps its promise'
cat in/*.jsonl >all; cat grow/*.jsonl | cmp - all || fail 'grow lost or kept something wrong'
everbloom corpus in -o forget --on-full forget; status_is 0; told 'the filter forgets the oldest'
cat forget/*.jsonl | cmp - all || fail 'forget lost a line'
everbloom corpus in -o stop --on-full stop; status_is 2; told 'and --on-full says stop'
missing stop/13.jsonl; exists stop/12.jsonl

# -m is a limit also for a filter that grows.
everbloom corpus in -o limit -m 200K; status_is 2; err_has 'would need more memory than -m'
everbloom corpus in -o limit2 -m 1M -q; status_is 0; err_has 'the filter grows'
# If the plan does not fit, the filter forgets, which is said; wishes that contradict it are refused.
everbloom corpus grow/13.jsonl -o small -m 64K; status_is 0; err_has 'forgets the oldest when it is full'
everbloom corpus grow/13.jsonl -o small2 -m 64K --on-full grow; status_is 2; err_has 'more than -m (64.0 KiB)'
# Not more than the machine has; the message says what fits.
everbloom corpus in -o big -m 60T; status_is 2; err_has 'more than nine tenths of the free memory'
fits=$(sed -n 's/.*give -m \([0-9]*K\) .*/\1/p' err); [ -n "$fits" ] || fail "$(shown err)"
