# -f by name, from the end, by groups of --regex; -d blank, -i, --trim: the same in all commands.
. "$EXPECT"
printf 'id,user,pages\n1,ann,3\n2,bob,4\n3,ann,5\n' >a.csv
printf '\357\273\277user,"id",pages\r\ncid,4,1\r\nann,5,1\r\n' >b.csv # other order, quotes, byte order mark
everbloom dedup --csv -f user a.csv b.csv
status_is 0; silent; out_is 'id,user,pages\n1,ann,3\n2,bob,4\ncid,4,1\r\n'
everbloom top --csv -f user --at-least 1 --verify a.csv b.csv
status_is 0; out_is '3\tann\n1\tbob\n1\tcid\n'
everbloom count --csv -f user --weight-field pages --key ann a.csv; [ "$(cut -f 1 out)" = 8 ] || fail "$(shown out)"
everbloom sum --csv -f user --weight-field pages --key ann --json a.csv; [ "$(value sum out)" = 8 ] || fail "$(shown out)"
everbloom dedup --csv -f '"user"' a.csv; out_is 'id,user,pages\n1,ann,3\n2,bob,4\n'
everbloom range --csv -f pages --from 4 --to 5 a.csv; [ "$(cut -f 1 out)" = 2 ] || fail "$(shown out)"
everbloom weigh --csv -f user -q -m 1K --distinct 2 a.csv; status_is 0
everbloom join --csv -f user --s-field user --verify a.csv b.csv; status_is 0; out_is '2\tann\n'
everbloom add --csv -f user -m 4K -o users a.csv; everbloom test --csv -f user users b.csv
status_is 0; out_is '\357\273\277user,"id",pages\r\nann,5,1\r\n'
tr , '\t' <a.csv >a.tsv
everbloom dedup --tsv -f user,id a.tsv; same out a.tsv
everbloom dedup --header -f user a.tsv; out_is 'id\tuser\tpages\n1\tann\t3\n2\tbob\t4\n'
everbloom dedup --header -f 2 a.tsv; out_is 'id\tuser\tpages\n1\tann\t3\n2\tbob\t4\n'
everbloom dedup --csv -f usr a.csv; status_is 2; no_output
err_is 'everbloom: a.csv: there is no column usr; the columns are id, user, pages\n'
misused dedup 'user is not the number of a field, and names of columns need --csv, --tsv or --header' dedup -f user
misused dedup '--csv, --tsv, --jsonl and --regex: give one of them' dedup --csv --jsonl -f 1
misused dedup '-d is not for --tsv, --jsonl or --regex, whose fields end by other rules' dedup --jsonl -d, -f a
misused dedup '--header is for columns, not for --jsonl or --regex' dedup --jsonl --header -f a

# From the end; runs of blanks.
everbloom dedup -d, -f -1 < <(printf 'a,x\nb,c,x\nd\n'); out_is 'a,x\nd\n'
everbloom dedup -d, -f -2 < <(printf 'a,x\na,y\nd\n'); out_is 'a,x\nd\n'
err_is 'everbloom: 1 of 3 lines passed through unchecked; the first is standard input: line 3: there is no field -2 (fields end at a comma: see -d)\n'
everbloom top -d blank -f 2,1 --at-least 1 < <(printf ' a \t b\na  b  \n\nx y z\n'); sort out >got; printf '1\ty x\n2\tb a\n' >want; same got want
err_is 'everbloom: 1 of 4 lines skipped; the first is standard input: line 3: there is no field 2 (fields end at blanks: see -d)\n'
everbloom top -d blank -f 2- --at-least 1 < <(printf 'a b  c\nx b c\n'); out_is '2\tb c\n'

# Case and blanks.
everbloom dedup -i < <(printf 'Abc\naBC\n\303\204\n\303\244\n'); out_is 'Abc\n\303\204\n\303\244\n'
everbloom dedup --trim < <(printf ' a\t\na\r\n b\n'); out_is ' a\t\n b\n'
everbloom count -i --trim --csv -f 1 --key 'ANN ' --queries keys < <(printf 'Ann,1\n" aNN",2\n') 2>/dev/null
echo ' ANN' >keys; everbloom count -i --trim --csv -f 1 --key 'ANN ' --queries keys < <(printf 'Ann,1\n" aNN",2\n')
status_is 0; cut -f 1,6 out >got; printf '2\tann\n2\tann\n' >want; same got want
everbloom dedup --csv --trim -i -f 2,1 < <(printf 'a , B\nA,b\n'); out_is 'a , B\n'

# Keys of several fields do not run into each other.
everbloom dedup --csv -f 1,2 < <(printf '"a,b",c\na,"b,c"\n"a,b",c\n'); out_is '"a,b",c\na,"b,c"\n'
everbloom dedup --jsonl -f a,b < <(printf '{"a":"x,y","b":"z"}\n{"a":"x","b":"y,z"}\n{"b":"z","a":"x,y"}\n')
[ "$(wc -l <out)" = 2 ] || fail "$(shown out)"

# --regex, if it was built in.
"$EVERBLOOM" dedup --regex 'a' </dev/null 2>err || { grep -q 'without PCRE2' err && exit 0; }
printf 'x user=ann page=/a\nuser=bob page=/a\nnothing\nuser=ann page=/b\n' >log
everbloom dedup --regex 'user=(\w+)' log; status_is 0; out_is 'x user=ann page=/a\nuser=bob page=/a\nnothing\n'
err_is 'everbloom: 1 of 4 lines passed through unchecked; the first is log: line 3: --regex does not match\n'
everbloom top --regex 'user=(\w+) page=(\S+)' --at-least 1 log; sort out >got
printf '1\tann,/a\n1\tann,/b\n1\tbob,/a\n' >want; same got want
everbloom top --regex 'user=(\w+) page=(?<page>\S+)' -f page --at-least 1 log; out_is '2\t/a\n1\t/b\n'
everbloom top --regex 'user=(\w+) page=(\S+)' -f 1 --at-least 1 log; out_is '2\tann\n1\tbob\n'
everbloom top --regex '=/.' --at-least 1 log; out_is '2\t=/a\n1\t=/b\n'
everbloom top --regex 'page=(\S+)|(nothing)' --at-least 1 log; sort out >got; printf '1\t,nothing\n1\t/b,\n2\t/a,\n' >want; same got want
misused dedup '--regex has no group 2; it has 1' dedup --regex '(a)' -f 2
misused dedup '--regex has no group x; it has 1' dedup --regex '(a)' -f x
misused dedup '--regex a(: missing closing parenthesis, at byte 3' dedup --regex 'a('
