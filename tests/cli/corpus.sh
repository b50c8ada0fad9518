# everbloom corpus: units, actions, hostile records, packed files, threads.
. "$EXPECT"
slow
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
mkdir in
{ for i in $(seq 1000); do echo '{"id":'$i',"text":"Always the same, Document."}'; done; echo '{"text":"another one"}'; } >in/a.jsonl
everbloom corpus in -o out1 -q; status_is 0; silent
printf '%s\n' '{"id":1,"text":"Always the same, Document."}' '{"text":"another one"}' >want; same out1/a.jsonl want

# A document that quotes itself is kept whole by drop and loses the repeat by remove; bytes around it stay.
printf '%s\n' '{"a": 1.0,"text":"one \u0041\nTwo\none a\nthree","z":[ ]}' '{"text":"four\nTWO."}' >in/a.jsonl
everbloom corpus in -o out2 -q --unit line; status_is 0; same out2/a.jsonl in/a.jsonl
everbloom corpus in -o out3 -q --unit line --action remove; status_is 0
printf '%s\n' '{"a": 1.0,"text":"one \u0041\nTwo\nthree","z":[ ]}' '{"text":"four"}' >want; same out3/a.jsonl want
everbloom corpus in -o out4 -q --unit line --action remove --normalise none; status_is 0; same out4/a.jsonl in/a.jsonl
everbloom corpus in -o out5 -q --unit line --action annotate; status_is 0
grep -qF '{"text":"four\nTWO.","everbloom":{"line":{"units":2,"seen":1,"share":0.5,"spans":[[5,9]]}}}' out5/a.jsonl || fail "$(shown out5/a.jsonl)"
everbloom corpus in --json --unit line --action report; [ "$(value line_units)" = 6 ] && [ "$(value line_seen)" = 1 ] || fail "$(shown err)"

# NFKC and case: a ligature, a combining mark, letters with marks.
printf '%s\n' '{"text":"\ufb01ne caf\u00e9"}' '{"text":"FINE CAFE\u0301!"}' >in/a.jsonl
everbloom corpus in -o out6 -q; [ "$(wc -l <out6/a.jsonl)" = 1 ] || fail "$(shown out6/a.jsonl)"
everbloom corpus in -o out7 -q --normalise case,space; [ "$(wc -l <out7/a.jsonl)" = 2 ] || fail "$(shown out7/a.jsonl)"

# All white space is alike, also beside letters that go through other code; a dash leaves none.
printf '%s\n' '{"text":"one two \u00e9t\u00e9 three - four"}' '{"text":"\tOne  two\u00a0 \u00e9t\u00e9\tthree four "}' '{"text":"onetwo \u00e9t\u00e9 three four"}' '{"text":"one two\re\u0301te\u0301\fthree\ffour"}' >in/a.jsonl
everbloom corpus in -o out14 -q --normalise nfkc,case,space,punct; sed -n '1p;3p' in/a.jsonl >want; same out14/a.jsonl want

# n-grams; 13 words seen before, in the middle.
words='a b c d e f g h i j k l m'
printf '{"text":"%s"}\n' "$words" "x y $words z" >in/a.jsonl
everbloom corpus in -o out8 -q --unit ngram:13 --action remove; status_is 0
printf '{"text":"%s"}\n' "$words" "x y z" >want; same out8/a.jsonl want

# Bad records follow the policy and are counted.
printf '{"text":"half \\ud800"}\n{"text":"cut\n{"text":1}\n{"other":"x"}\n{"text":"nul\0"}\nno json\n{"text":"x"} y\n\n{"text":""}\n{"text":"good \\u0000"}\n{"text":"\\q"}\n' >in/a.jsonl
everbloom corpus in -o out9 --json; status_is 0; same out9/a.jsonl in/a.jsonl
[ "$(value bad)" = 8 ] && [ "$(value documents)" = 2 ] && [ "$(value empty)" = 1 ] || fail "$(shown err)"
err_has 'passed on 8 bad records; the first is in/a.jsonl: line 1: half of a surrogate pair'
everbloom corpus in -o out10 -q --on-bad skip; [ "$(wc -l <out10/a.jsonl)" = 3 ] || fail "$(shown out10/a.jsonl)"
everbloom corpus in -o out11 -q --on-bad fail; status_is 2; err_is 'everbloom: in/a.jsonl: line 1: half of a surrogate pair\n'
missing out11/a.jsonl

# Packed files and folders, the same output for every number of threads, and the same as an exact tool finds.
rm -r in; mkdir -p in/x in/y
awk 'BEGIN { srand(7); for (i = 0; i < 30000; i++) printf "{\"text\":\"%d words of text number %d and more of the same kind so that it is longer\"}\n", rand() * 20000, i % 3 }' >all
head -n 15000 all | gzip >in/x/1.jsonl.gz; tail -n +15001 all | zstd -q >in/y/2.jsonl.zst; cp all in/z.jsonl; echo 'a text' >in/t.txt; echo 'A  text' >in/u.txt
for threads in 1 2 7; do
    everbloom corpus in -o out.$threads -q --threads $threads; status_is 0; silent
    [ $threads = 1 ] || diff -r -x .everbloom out.1 out.$threads || fail "$threads threads give another output"
done
exists out.1/t.txt; missing out.1/u.txt
{ gzip -dc out.1/x/1.jsonl.gz; zstd -dcq out.1/y/2.jsonl.zst; } >got; awk '!seen[$0]++' all >want; same got want
[ -s out.1/z.jsonl ] && fail 'repeats in z.jsonl'
everbloom corpus in -o out.1; status_is 0; err_has 'out.1: complete already'
everbloom corpus in -o out.1 --unit line; status_is 2; err_has 'out.1: the folder has the output of a run with other options'
everbloom corpus in -o out.1 -m 1G; status_is 0; err_has 'out.1: complete already'
mkdir -p deep/er; cp in/t.txt deep/er; everbloom corpus deep -o named -q; status_is 0; exists named/er/t.txt
everbloom corpus deep/er -o named -q; status_is 2; err_has 'named: the folder has the output of a run with other input'
# -m decides what a filter that forgets finds.
everbloom corpus in -o forgets -q --on-full forget -m 1M; status_is 0; silent
everbloom corpus in -o forgets -q --on-full forget -m 1024K; status_is 0; err_has 'forgets: complete already'
for other in '-m 2M' ''; do # shellcheck disable=SC2086
    everbloom corpus in -o forgets -q --on-full forget $other; status_is 2; err_has 'forgets: the folder has a run with -m 1M, whose filter forgets'
done
mkdir full; echo >full/x; everbloom corpus in -o full; status_is 2; err_has 'full: the folder is not empty'

# Files that come next are unpacked ahead; one that is damaged is told when it is its turn.
mkdir many
for i in 1 2 3 4 5; do seq -f '{"text":"%.0f of them, and some more words"}' $i 3 150000 | gzip -1 >many/$i.jsonl.gz; done
for damage in no yes; do
    [ $damage = no ] || dd if=/dev/zero of=many/4.jsonl.gz bs=1 count=9 seek=$(($(wc -c <many/4.jsonl.gz) / 2)) conv=notrunc status=none
    for threads in 1 2 7; do
        everbloom corpus many -o $damage$threads -q --threads $threads --unit line; status_is $([ $damage = no ] && echo 0 || echo 2)
        cp err told$threads; diff told1 told$threads || fail "$threads threads tell something else"
        diff -r -x run ${damage}1 $damage$threads || fail "$threads threads give another output"
    done
done
grep -q '^everbloom: many/4.jsonl.gz: the gzip data is damaged at byte' told1 || fail "$(shown told1)"
exists yes1/3.jsonl.gz; missing yes1/4.jsonl.gz

# A plan that is too small is told, and the filter grows; wrong removals stay within the promise.
mkdir few; for i in $(seq 40); do echo '{"text":"'$(seq -s' ' 3000)'"}' >few/$(printf %02d $i).jsonl; done
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "{\"text\":\"%d\"}\n", i }' >few/04.jsonl
everbloom corpus few -o out12 --json --max-drop 0.01; status_is 0; err_has 'more than the'
kept=$(wc -l <out12/04.jsonl); [ "$kept" -ge 59300 ] && [ "$kept" -le 60000 ] || fail "$kept of 60000 are kept"

# Near duplicates: one word of 200 changed is near; another text is not.
awk 'BEGIN { srand(3); for (d = 0; d < 3; d++) { printf "{\"text\":\""; for (i = 0; i < 200; i++) { if (d != 1) w[i] = int(rand() * 9999); printf "%d ", (d == 1 && i == 100) ? 77777 : w[i] } print "\"}" } }' >near.jsonl
everbloom corpus near.jsonl -o out13 -q --unit near; sed 2d near.jsonl >want; same out13/near.jsonl want
misused corpus '--unit must be document, paragraph, line, ngram:N or near, not "word"' corpus x -o y --unit word
misused corpus 'give the folder for the output (-o), or --action report' corpus x
