# --on-bad: one policy for lines without a field, or with a time or weight that cannot be read.
. "$EXPECT"
printf 'a,1\nb\nb,2\nb,2\nc\n' >in
everbloom dedup -d, -f 2 in; status_is 0; out_is 'a,1\nb\nb,2\nc\n'
err_is 'everbloom: 2 of 5 lines passed through unchecked; the first is in: line 2: there is no field 2 (fields end at a comma: see -d)\n'
everbloom dedup -d, -f 2 --on-bad skip in; status_is 0; out_is 'a,1\nb,2\n'; err_has '2 of 5 lines skipped; the first is in: line 2: '
everbloom dedup -d, -f 2 --on-bad fail in; status_is 2; out_is 'a,1\n' # what was good is not lost
err_is 'everbloom: in: line 2: there is no field 2 (fields end at a comma: see -d)\n'
everbloom dedup -d, -f 2 --mark in; out_is '0,a,1\n-,b\n0,b,2\n1,b,2\n-,c\n'
everbloom dedup -d, -f 2 --repeated in; out_is 'b\nb,2\nc\n'
everbloom dedup -d, -f 2 --json in
[ "$(value lines) $(value unique) $(value duplicates) $(value bad_lines)" = '5 2 1 2' ] || fail "$(shown err)"
everbloom dedup -d, -f 2 -o o --on-bad fail in; status_is 2; missing o
everbloom count -d, -f 1 --weight-field 2 --key b --key c in; status_is 0; err_has '2 of 5 lines skipped'
cut -f 1,6 out >got; printf '4\tb\n0\tc\n' >want; same got want
everbloom count -d, -f 1 --weight-field 2 --key b --on-bad fail in; status_is 2; no_output
everbloom top -d, -f 2 --at-least 1 --verify in; status_is 0; out_is '2\t2\n1\t1\n'
[ "$(wc -l <err)" = 1 ] || fail "told for each reading: $(shown err)"
everbloom add -d, -f 2 -m 4K -o s in; status_is 0; everbloom test -d, -f 2 s in; out_is 'a,1\nb,2\nb,2\n'
everbloom test -d, -f 2 --on-bad pass s in; out_is 'a,1\nb\nb,2\nb,2\nc\n'
everbloom range -d, -f 2 --from 1 --to 2 in; [ "$(cut -f 1 out)" = 3 ] || fail "$(shown out)"; err_has '2 of 5 lines skipped'
everbloom dedup --window 10m --time-field 1 < <(printf '1000\nnever\n1001\n'); status_is 0; out_is '1000\nnever\n1001\n'
err_has '1 of 3 lines passed through unchecked; the first is standard input: line 2: the time must be'
misused count '--on-bad must be skip or fail, not "pass"' count --on-bad pass --key a
# Many bad lines between good ones, all in their order.
awk 'BEGIN { for (i = 0; i < 20000; i++) print i % 3 ? "k" i "\t" i : "bad" i }' >in
everbloom dedup -f 2 in; same out in; err_has '6667 of 20000 lines passed through unchecked'
