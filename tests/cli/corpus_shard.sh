# everbloom corpus --shard: parts of an input, collected apart, merged, and compared with what stands before them: as one run.
. "$EXPECT"
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
mkdir in
for f in 1 2 3 4 5 6 7; do
    awk -v seed=$f 'BEGIN { srand(seed); for (i = 0; i < 1500; i++) printf "{\"text\":\"%d of document\\n%d of line\"}\n", rand() * 3000, rand() * 9000 }' >in/$f.jsonl
done
for unit in document line; do
    action=drop; [ $unit = line ] && action=remove
    everbloom corpus in -o $unit.one -q --unit $unit --action $action; status_is 0
    for i in 1 2 3; do everbloom corpus in -q --shard $i/3 --unit $unit --collect $unit.$i.eb; status_is 0; done
    everbloom corpus in -o $unit.parts1 -q --shard 1/3 --unit $unit --action $action; status_is 0
    everbloom corpus in -o $unit.parts2 -q --shard 2/3 --unit $unit --action $action --against $unit.1.eb; status_is 0
    everbloom merge -o before.eb $unit.1.eb $unit.2.eb; status_is 0
    everbloom corpus in -o $unit.parts3 -q --shard 3/3 --unit $unit --action $action --against before.eb; status_is 0
    mkdir $unit.all; for i in 1 2 3; do cp -n $unit.parts$i/*.jsonl $unit.all/; [ "$(ls $unit.parts$i | wc -l)" -ge 2 ] || fail "part $i has too few files"; done
    diff -rq -x .everbloom $unit.one $unit.all || fail "$unit: the parts differ from one run"
done
# All of the input is in one part only; merging what was made in different ways gives no filter for --against.
[ "$(ls document.parts[123]/*.jsonl | wc -l)" = 7 ] || fail 'a file is in two parts'
everbloom corpus in -q --shard 2/3 --collect other.eb --unit document --normalise none; everbloom merge -o mixed.eb document.1.eb other.eb; status_is 0
everbloom corpus in -o x --against mixed.eb; status_is 2; err_has "mixed.eb: not made by 'everbloom corpus --collect'"
everbloom corpus in -o x --shard 9/9 -q; status_is 0
for wrong in 0/3 4/3 a 1/2x; do misused corpus '--shard must be I/N with I from 1 to N, not "'$wrong'"' corpus in -o y --shard $wrong; done
