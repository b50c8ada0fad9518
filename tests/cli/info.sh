# info tells what a snapshot holds.
. "$EXPECT"
everbloom add -o s --filter bloom:memory=64K,k=4,seed=9 < <(seq 100)
everbloom info s
status_is 0; silent
for line in 'file                 s' 'filter               bloom:' 'keys added           100' \
    'false positive rate' 'fill  ' 'memory  '; do
    out_has "$line"
done
everbloom info --json s
status_is 0
[ "$(wc -l <out)" = 1 ] && [ "$(value items out)" = 100 ] && [ "$(value file out)" = s ] || fail "$(shown out)"
[ "$(value cells_used out)" -le 400 ] && [ "$(value bytes out)" -le 65536 ] || fail "$(shown out)"
everbloom info --json s s
[ "$(wc -l <out)" = 2 ] || fail "not two objects: $(shown out)"
"$EVERBLOOM" info --json - <s >out 2>err
status=$?
status_is 0; [ "$(value items out)" = 100 ] || fail "$(shown out)"
"$EVERBLOOM" info --json - < <(cat s) >out 2>err
status=$?
status_is 0; [ "$(value items out)" = 100 ] || fail "$(shown out)"

# Names of any bytes make valid JSON.
odd=$'q"\\\n\xff\xc3\xa4'
cp s "$odd"
everbloom info --json "$odd"
status_is 0
printf '"file":"q\\"\\\\\\u000a\xef\xbf\xbd\xc3\xa4",' >want
grep -qF "$(cat want)" out || fail "$(shown out)"

everbloom info none
status_is 2; no_output; err_is 'everbloom: none: No such file or directory\n'
everbloom info .
status_is 2; err_is 'everbloom: .: Is a directory\n'
echo text >text
everbloom info text
status_is 2; err_has 'everbloom: text: not a snapshot'
