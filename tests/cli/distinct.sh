# distinct: exact for few keys, within a few standard errors for many; by group; the same for any order and pieces.
. "$EXPECT"
everbloom distinct < <(printf 'a\nb\na\n'); status_is 0; silent; out_is '2\t0\n'
everbloom distinct </dev/null; status_is 0; out_is '0\t0\n'
for n in 127 128; do seq $n >in; everbloom distinct in in; out_is "$n\t0\n"; done
for n in 129 1000 20000 60000 200000 1000000; do
    seq $n >in; everbloom distinct in; status_is 0
    awk -v n=$n '{ exit !($1 > n * (1 - 4 * 0.0041) && $1 < n * (1 + 4 * 0.0041) && $2 > 0) }' out || fail "$n: $(shown out)"
done
cp out whole
everbloom distinct < <(tac in; cat in); same out whole
# For each group, against awk.
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%d,g%d\n", i % 7919, i % 5 == 0 ? 0 : i % 1009 % 50 }' >in
awk -F, '!seen[$0]++ { n[$2]++ } END { for (g in n) print n[g] "\t" g }' in | sort -k 2 >exact
everbloom distinct -d, -f 1 --by 2 --names in; status_is 0; silent
[ "$(head -n 1 out)" = "$(printf 'distinct\terror\tgroup')" ] || fail "$(shown out)"
tail -n +2 out | sort -k 3 | cut -f 1,3 >got
[ "$(wc -l <got)" = "$(wc -l <exact)" ] || fail "$(wc -l <got) groups"
paste exact got | awk '{ r = $3 / $1 - 1; if (r > 0.07 || r < -0.07 || ($1 <= 128 && r) || $2 != $4) exit 1 }' || fail "groups: $(paste exact got | head -n 5)"
sort -rnc <(tail -n +2 out | cut -f 1) || fail "the largest is not first"
everbloom distinct --csv -f u --by c --json < <(printf 'u,c\n1,x\n2,x\n2,"y\nz"\n'); status_is 0
out_is '{"group":"x","distinct":2,"error":0}\n{"group":"y\\u000az","distinct":1,"error":0}\n'
everbloom distinct -d, -f 1 --by 2 < <(printf 'a,x\nb\n'); out_is '1\t0\tx\n'; err_has '1 of 2 lines skipped; the first is standard input: line 2: there is no field 2'
everbloom distinct -i < <(printf 'A\na\n'); out_is '1\t0\n'
misused distinct '--names and --json: give one of them' distinct --names --json
