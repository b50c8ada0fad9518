# test --key: keys of the command line in place of lines.
. "$EXPECT"
everbloom add -o s --filter bloom:memory=64K,k=4 --seed 1 < <(printf 'a\nb b\n\nc\\n\n')
everbloom test s --key a </dev/null; status_is 0; silent; out_is 'a\n'
everbloom test s --key x; status_is 1; no_output; silent
everbloom test --key 'b b' --key x --key a s; status_is 0; out_is 'b b\na\n'
everbloom test --key=x --key=a --absent s; status_is 0; out_is 'x\n'
everbloom test --key=x --key=a --mark -d, s; status_is 0; out_is '0,x\n1,a\n'
everbloom test s --key ''; status_is 0; out_is '\n'
everbloom test s --key 'c\n'; status_is 0; out_is 'c\\n\n'
everbloom test s -0 --key a; out_is 'a\0'
everbloom test s -o found --key a; status_is 0; no_output; printf 'a\n' >want; same found want
# The snapshot may come from a pipe; standard input is not read otherwise.
everbloom test - --key a <s; status_is 0; out_is 'a\n'
{ "$EVERBLOOM" test s --key a >out; cat >rest; } < <(echo untouched)
printf 'untouched\n' >want; same rest want

# As many as a shell passes on, in their order.
seq 1 2000 >many
everbloom add -o m -m 64K many
everbloom test m $(seq -f '--key=%.0f' 1 2000); status_is 0; same out many

# Rules know what class a key has.
printf '2\t*0\n' >rules
seq 1 3000 >members
everbloom add --filter weighted:memory=2K,class_bits=2:9,seed=1 --class-rules rules -o w members
everbloom test w --class-rules rules $(seq -f '--key=%.0f' 3001 4000)
cp out keys
everbloom test w --class-rules rules < <(seq 3001 4000); same out keys
everbloom test w $(seq -f '--key=%.0f' 3001 4000); cmp -s out keys && fail "rules make no difference"

for wrong in '-f 2' --header '--class-field 2' members; do
    misused test '--key asks about keys, not lines: no FILE, -f, --header or --class-field' test s --key a $wrong
done
misused test '-d has no effect without -f, --csv or --mark' test s --key a -d,
misused test '--mark and --absent: give one of them' test s --key a --mark --absent
