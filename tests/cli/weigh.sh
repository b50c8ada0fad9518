# weigh: a hot list from a query log; a weighted filter in one line, measured against a plain one.
. "$EXPECT"
slow
# Queries by Zipf's law over 200000 keys; every tenth key is a member, popular or not.
awk 'BEGIN { x = 12345; for (i = 0; i < 200000; i++) {
    x = (x * 16807) % 2147483647; print "key" int(exp(x / 2147483647 * log(200001))) } }' >queries
seq 3 10 200000 | sed 's/^/key/' >members
grep -vxFf members queries >others

everbloom weigh -m 20K --members members --seed 1 --json --save f queries
status_is 0; no_output
[ "$(value queries)" = 200000 ] && [ "$(value members)" = 20000 ] || fail "$(shown err)"
num() { awk "BEGIN { exit !($1) }" || fail "not true: $1"; }
num "$(value expected_improvement) > 1.3"
# 100 filters.  The rate of a plain one varies by 80 %, since the hottest key alone has 8 % of the
# queries, so that of all by 8 %; weighted filters vary by 10 %, all together by 1 %.
num "$(value measured_improvement) > 0.65 * $(value expected_improvement)"
num "$(value measured_improvement) > 1.05"
num "$(value measured_fpr) / $(value expected_fpr) < 1.05"
num "$(value measured_fpr) / $(value expected_fpr) > 0.95"
num "$(value false_positives) <= $(value measured_queries) && $(value measured_queries) > 40000"
cp err report

# No member is missed; what it reports is what test finds; the size is the size.
everbloom test f members
status_is 0; same out members
tail -n 50000 queries | grep -vxFf members >kept
everbloom test f kept
[ "$(wc -l <out)" = "$(value false_positives report)" ] || fail "test finds other false positives"
[ "$(wc -l <kept)" = "$(value measured_queries report)" ] || fail "other queries were kept"
[ "$(stat -c %s f)" -le 20480 ] || fail "larger than -m"
everbloom weigh -m 20K --members members --seed 1 -q --save g - <queries
status_is 0; silent; same g f
everbloom weigh -m 20K --members <(cat members members) --seed 1 -q --save - queries
status_is 0; silent; same out f

# The list: hottest first, no member in it, as many as wanted; add takes it.
everbloom weigh -m 20K --members members --hot 12 queries
status_is 0; cp out list
[ "$(wc -l <list)" -le 12 ] && [ "$(wc -l <list)" -gt 3 ] || fail "$(shown list)"
printf 'key1\n' >first; cut -f 2 list | head -n 1 >out; same out first
cut -f 2 list | grep -xFf members && fail "a member is listed"
grep -qv '^[2-8]	key' list && fail "$(shown list)"
everbloom weigh -m 20K --distinct 20000 --json queries
status_is 0; cp out list
filter=$(sed 's/.*"filter":"\([^"]*\)".*/\1/' err)
sort -rn -s -k 1,1 list | cmp -s - list || fail "classes are not in order"
everbloom add --filter "$filter" --classes list -o h members
status_is 0
everbloom test h members
status_is 0
everbloom weigh -m 20K --hot 0 queries
status_is 0; no_output
err_has 'everbloom: no hot list is worth its memory here'
everbloom weigh queries
status_is 0; err_has 'weighted:memory=64M,'

# Nothing to gain: every key is asked for once.
seq 5000 >uniform
everbloom weigh -m 20K --members members --save u uniform
status_is 0; err_has 'everbloom: no hot list is worth its memory here'
everbloom test u members
status_is 0
# All queries are for members.
everbloom weigh -m 20K --members members --save u members
status_is 0; err_has 'measured queries     0'

# Keys may be fields; with -0 they may hold line ends.
everbloom weigh -m 1M --distinct 100 -q --csv -f 2 < <(printf '1,"a"\n2,a\n3,a\n4,b\n')
status_is 0; out_has '	a'
everbloom weigh -m 1M --distinct 100 -q --csv --header -f 1 < <(printf 'key,n\na,1\na,2\nkey,3\na,4\n')
status_is 0; cut -f 2 out | sort >got; printf 'a\nkey\n' >want; same got want
cut -f 1 out | sort -u | wc -l | grep -qx 2 || fail "the names were counted: $(shown out)"
printf 'a\nb\0a\nb\0a\nb\0c\0' >nul
everbloom weigh -m 1M --distinct 100 -q -0 nul
status_is 0; grep -qzP '^\d\ta\nb$' out || fail "$(shown out)"
everbloom weigh -m 1M --distinct 100 -q --csv -f 1 < <(printf '"a\nb"\n"a\nb"\n"a\nb"\nc\n')
status_is 2; err_is 'everbloom: a key contains a newline: use -0\n'

# Trouble.
: >empty
everbloom weigh empty
status_is 2; no_output; err_is 'everbloom: the sample is empty\n'
everbloom weigh --members empty --save t queries
status_is 2; err_is 'everbloom: empty: there is no member in it\n'
everbloom weigh --members none --save t queries
status_is 2; err_is 'everbloom: none: No such file or directory\n'
everbloom weigh none
status_is 2; err_is 'everbloom: none: No such file or directory\n'
everbloom weigh -m 10 --members members --save t queries
status_is 2; err_has 'everbloom: weighted: memory'
everbloom weigh --members - --save t
status_is 2; err_has 'everbloom: the members and the sample cannot both come from standard input'
missing t
misused weigh '--save needs --members, the keys that the filter will hold' weigh --save t queries
misused weigh '--members and --distinct: give one of them' weigh --members members --distinct 9 queries
misused weigh '-m must be a size from 1K to 64T, such as 500K, 64M or 2GiB, not "64X"' weigh -m 64X queries

# What is asked for changes: the last quarter has other hot keys, and weigh says so.
{ head -n 150000 queries; tail -n 50000 queries | sed 's/key/later/'; } >drifting
everbloom weigh -m 20K --members members --seed 1 --save d drifting
status_is 0; err_has 'the queries change over time, so weigh again often'
everbloom weigh -m 20K --members members --seed 1 --save d queries
grep -q 'the queries change over time' err && fail "a steady log drifts: $(shown err)"
true
