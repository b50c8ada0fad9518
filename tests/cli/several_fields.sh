# -f with a list: the key is several fields, in the order given, with the delimiter between.
. "$EXPECT"
slow
printf 'a b c d\na x c e\na b x d\n' >in
everbloom dedup -d ' ' -f 1,3 in; status_is 0; out_is 'a b c d\na b x d\n'
everbloom dedup -d ' ' -f 2-3 in; out_is 'a b c d\na x c e\na b x d\n'
everbloom dedup -d ' ' -f 1-2 in; out_is 'a b c d\na x c e\n'
everbloom dedup -d ' ' -f 4- in; out_is 'a b c d\na x c e\n'

# What the key is, as count sees it: every way to write a list, against awk.
keys_are() { # keys_are LIST AWK-EXPRESSION - of the lines of in, in which fields are parted by a colon
    awk -F: "{ print $2 }" in >keys
    everbloom count -d: -f "$1" --seed 1 --queries keys in; status_is 0
    awk -F: "{ n[$2]++; k[NR] = $2 } END { for (i = 1; i <= NR; i++) print n[k[i]] \"\t\" k[i] }" in >want
    cut -f 1,6- out >got; same got want
}
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d:%d:%s:%d:%d\n", i % 7, i % 5, i % 3 ? "x" i % 4 : "", i % 2, i % 11 }' >in
keys_are 3 '$3'
keys_are 1,3 '$1 ":" $3'
keys_are 3,1 '$3 ":" $1'
keys_are 2-4 '$2 ":" $3 ":" $4'
keys_are 2,3,4 '$2 ":" $3 ":" $4'
keys_are 4-5,1-2 '$4 ":" $5 ":" $1 ":" $2'
keys_are 3- '$3 ":" $4 ":" $5'
keys_are 1-2,5 '$1 ":" $2 ":" $5'
keys_are 5,3,1 '$5 ":" $3 ":" $1'
keys_are 1-5 '$0'

# A line that lacks a field has no key: it is skipped, or an error.
printf 'a:b:c\na:b\na\n' >in
everbloom count -d: -f 1,3 --queries - --seed 1 in < <(printf 'a:c\na\n'); status_is 0
cut -f 1,6- out >got; printf '1\ta:c\n0\ta\n' >want; same got want
err_is 'everbloom: 2 of 3 lines skipped; the first is in: line 2: there is no field 3 (fields end at :: see -d)\n'
everbloom top -d: -f 2-3 --at-least 1 --on-bad fail in; status_is 2; no_output
err_is 'everbloom: in: line 2: there is no field 3 (fields end at :: see -d)\n'
everbloom top -d: -f 3,1 --at-least 1 --on-bad fail in; err_is 'everbloom: in: line 2: there is no field 3 (fields end at :: see -d)\n'
everbloom top -d: -f 3- --at-least 1 --on-bad fail in; err_is 'everbloom: in: line 2: there is no field 3 (fields end at :: see -d)\n'
everbloom top -d: -f 2-,1 --at-least 1 --on-bad fail in; err_is 'everbloom: in: line 3: there is no field 2 (fields end at :: see -d)\n'
everbloom top -d: -f 1- --at-least 1 --verify in; status_is 0; sort out >got
printf '1\ta\n1\ta:b\n1\ta:b:c\n' >want; same got want

# CSV: without quotes that are not needed, with those that are.
cat >in <<'IN'
1,a,b
2,"a","b"
3,"a,b",c
4,a,"b,c"
5,"say ""a""",b
6,5" x,b
IN
everbloom top --csv -f 2-3 --at-least 1 --verify in; status_is 0; sort out >got
printf '%s\t%s\n' 1 '"5"" x",b' 1 '"a,b",c' 1 '"say ""a""",b' 1 'a,"b,c"' 2 'a,b' >want; same got want
everbloom dedup --csv -f 3,2 in; grep -v '^2' in >want; same out want
everbloom dedup --csv -f 2- < <(printf '1,a,b\r\n2,"a",b\n3,a,"b\r\n"\r\n4,a,"b\r\n"\n')
out_is '1,a,b\r\n3,a,"b\r\n"\r\n'
# Quotes take more room than the line has; such keys do not run into each other.
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "x\"\"\"\"\"\"%d,y\"%d\n", i % 20000, i % 20000 }' >in
everbloom dedup --csv -f 2,1 --seed 1 in; head -n 20000 in >want; same out want
everbloom dedup --csv -f 2,1 --seed 1 < <(dd if=in bs=4093 status=none); same out want
# A line longer than the reader's blocks.
awk 'BEGIN { for (i = 0; i < 700000; i++) printf "field,"; print "end"; print "end,field" }' >in
everbloom dedup -d, -f 700001,1 in; status_is 0; [ "$(wc -l <out)" -eq 2 ] || fail "$(wc -l <out) lines"
everbloom count -d, -f 700001,1 --key end,field in; out_has 'recurring	end,field'

# Every command that takes a key from a field; in joins, S may have the fields in another order.
printf 'x\tu\t1\ny\tu\t2\nx\tu\t3\n' >in
everbloom add -f 1-2 -o s.eb in; status_is 0
everbloom test s.eb -f 2,1 < <(printf 'u\tx\nx\tu\n'); out_is 'u\tx\n'; status_is 0
everbloom top -f 2,1 --half-life 10m --time-field 3 --top 1 in; status_is 0; cut -f 3- out >got; printf 'u\tx\n' >want; same got want
everbloom sum -f 1,2 --key "x	u" in; status_is 0; out_has '2'
printf 'u\tx\nu\tz\n' >s.tsv
everbloom join -f 1,2 --s-field 2,1 --verify in s.tsv; status_is 0; out_is '2\tx\tu\n'
everbloom join -f 1-2 --verify in in; sort out >got; printf '1\ty\tu\n4\tx\tu\n' >want; same got want
everbloom range -d ' ' -f 1,2 --values time --from '2026-01-01 00:00:00' < <(printf '2026-01-31 12:00:00 a\n2025-12-31 23:59:59 b\n')
status_is 0; out_has '1	1	1'
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "%s\t%s\n", i % 2 ? "hot" : i, "u" }' >in
everbloom weigh -q -m 4K --distinct 3000 -f 2,1 in; status_is 0; cut -f 2- out >got; printf 'u\thot\n' >want; same got want

for list in '' 0 1, ,1 1,,2 4-2 1-0 - -0 1--2 1,1 -1,-1 a,b,a 'a,"b' 1-3,2 2,1-3 2-,3 1234567890; do
    misused dedup "-f must be fields, each once, such as 3, 1,3, 2-4, 5-, -1 or name, not \"$list\"" dedup -f "$list"
done
