# everbloom corpus: the plan says how many units will be new, and what less memory would lose.
. "$EXPECT"
slow
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
# A sample that is all of the input knows the share: 6000 of 8000 documents.
awk 'BEGIN { for (i = 0; i < 8000; i++) printf "{\"text\":\"number %d\"}\n", i % 6000 }' >small.jsonl
everbloom corpus small.jsonl --action report; status_is 0; err_has 'about 75 % of them new (of the sample 75 %)'
# Nothing repeats; and a text of which more repeats than its first part shows: 300000 numbers, each below 100000.
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "{\"text\":\"number %d\"}\n", i }' >fresh.jsonl
everbloom corpus fresh.jsonl --action report; status_is 0; err_has 'about 100 % of them new (of the sample 100 %)'
awk 'BEGIN { srand(1); for (i = 0; i < 300000; i++) printf "{\"text\":\"%d\",\"more\":\"%60s\"}\n", 100000 * rand(), "" }' >drawn.jsonl
everbloom corpus drawn.jsonl --action report --json; status_is 0
guess=$(sed -n 's/.*about \([0-9]*\) % of them new.*/\1/p' err) sampled=$(sed -n 's/.*(of the sample \([0-9]*\) %).*/\1/p' err)
real=$((100 - 100 * $(value document_seen) / $(value document_units)))
[ "$guess" -lt "$sampled" ] && [ "$guess" -ge "$real" ] || fail "guessed $guess %, in the sample $sampled %, found $real %"
# One cache line a key, unless -m would then be full earlier; parts that are collected apart do not ask how much memory is free.
everbloom corpus fresh.jsonl --collect line.eb -q; everbloom info line.eb; out_has 'layout=line'
everbloom corpus fresh.jsonl --collect parts.eb -q -m 900K; everbloom info parts.eb; out_has 'layout=parts'
# What less memory would lose is told before, with a size that can be given as it is; then it is told again.
awk 'BEGIN { for (i = 0; i < 1200000; i++) printf "%d\n", i % 1000000 }' >many.txt
mkdir in; cp many.txt in/a.txt; cp many.txt in/b.txt
everbloom corpus in --action report --unit line; status_is 0; err_has 'of the repeats would stay'
size=$(sed -n 's/.* with -m \([0-9]*K\) .*/\1/p' err); stay=$(sed -n 's/.* about \([0-9.]*\) % of the repeats would stay.*/\1/p' err)
everbloom corpus in --action report --unit line -m "$size"; status_is 0; err_has "of all repeats about $stay % stay"; err_has 'all of them need'
