# --as: tsv, csv, json and aligned tables; a line end in a key stays inside.
. "$EXPECT"
slow
printf 'id,name\n1,"a\nb"\n2,"c ""d"", e"\n3,"a\nb"\n' >in
everbloom top --csv -f name in; status_is 0; out_is '2\t"a\nb"\n1\tc "d", e\n'
everbloom top --csv -f name --as tsv --names in; out_is 'count\tkey\n2\t"a\nb"\n1\tc "d", e\n'
everbloom top --csv -f name --as csv in; status_is 0; out_is 'count,key\n2,"a\nb"\n1,"c ""d"", e"\n'
everbloom top --csv -f name --as json in; status_is 0; cp out json
everbloom top --csv -f name --json in; same out json; out_has '"key":"a\u000ab","count":2'
everbloom top --csv -f name --as table in; out_is 'count  share  key\n    2  66.7%%  a?b\n    1  33.3%%  c "d", e\n'
everbloom top --csv -f name -0 < <(printf 'id,name\0001,"a\nb"\0'); out_is '1\ta\nb\0'
everbloom count --csv -f name --key 'c "d", e' --as csv in; status_is 0
out_is 'count,lower,upper,confidence,hint,key\n1,1,1,1,recurring,"c ""d"", e"\n'
everbloom count --csv -f name --key $'a\nb' in; [ "$(cut -f 1 <out | head -n 1)" = 2 ] || fail "$(shown out)"; tail -n 1 out >last; printf 'b"\n' >want; same last want
everbloom distinct --csv -f id --by name --as csv in; out_is 'distinct,error,group\n2,0,"a\nb"\n1,0,"c ""d"", e"\n'
everbloom distinct --csv -f id --as table in; out_is 'distinct  error\n       3      0\n'
everbloom join --csv -f name --as csv in in; sort out >got; printf '1,"c ""d"", e"\n4,"a\nb"\nb"\npairs,key\n' | sort -u >want; grep -c . got >/dev/null; grep -qx 'pairs,key' got && grep -qx '4,"a' got || fail "$(shown out)"
everbloom join --csv -f name --json in in; out_has '{"key":"a\u000ab","pairs":4}'
everbloom range -f 1 --csv --from 1 --to 2 --quantile 1 --as csv --header in; out_is 'count,lower,upper,from,to\n2,2,2,1,2\nvalue,lower,upper,quantile\n3,3,3,1\n'
misused top '--json and --as csv: give one of them' top --json --as csv
# On a terminal answers are aligned, unless something else is asked for.
command -v script >/dev/null || skip "no script(1) to make a terminal"
script -qec "'$EVERBLOOM' top --csv -f name in" /dev/null </dev/null | tr -d '\r' >seen
printf 'count  share  key\n    2  66.7%%  a?b\n    1  33.3%%  c "d", e\n' >want; same seen want
