# everbloom corpus: --collect and --against, --context, several units at once.
. "$EXPECT"
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
question='What is the name of the river that flows through the old town of the city'
printf '{"text":"%s?"}\n' "$question" 'Another question of eight words in all here' >test.jsonl
everbloom corpus --collect bench.eb --unit ngram:8 test.jsonl -q; status_is 0
everbloom corpus --collect titles.eb --unit document --normalise case,punct test.jsonl -q; status_is 0
printf '{"text":"%s"}\n' 'Nothing to see' "Before it. WHAT is the name of the river, that flows through the hills; after it." "ÄÖÜ x $question yz ÄÖÜ" "another question of eight words in all here" >in.jsonl
everbloom corpus in.jsonl -o drop -q --against bench.eb; status_is 0; sed -n 1p in.jsonl >want; same drop/in.jsonl want
everbloom corpus in.jsonl -o share -q --against bench.eb --threshold 0.5; status_is 0; sed -n 1,2p in.jsonl >want; same share/in.jsonl want
everbloom corpus in.jsonl -o drop -q --against bench.eb --threshold 0.8; status_is 2; err_has 'drop: the folder has the output of a run with other options'
everbloom corpus in.jsonl -o remove -q --against bench.eb --action remove; status_is 0
printf '{"text":"%s"}\n' 'Nothing to see' 'Before it. hills; after it.' 'ÄÖÜ x yz ÄÖÜ' >want; same remove/in.jsonl want
everbloom corpus in.jsonl -o context -q --against bench.eb --action remove --context 4; status_is 0
printf '{"text":"%s"}\n' 'Nothing to see' 'Before ls; after it.' 'ÄÖÄÖÜ' >want; same context/in.jsonl want
# Names in annotations, with spans in characters; the filters did not change.
cp bench.eb before.eb
everbloom corpus in.jsonl -o notes -q --against bench.eb --against titles.eb --action annotate --unit line; status_is 0; cmp bench.eb before.eb || fail 'the filter of --against has changed'
grep -qF '"bench":{"units":13,"seen":9,"share":0.692308,"spans":[[6,79]]}' notes/in.jsonl || fail "$(shown notes/in.jsonl)"
grep -qF '"titles":{"units":1,"seen":1,"share":1,"spans":[[0,43]]}' notes/in.jsonl || fail "$(shown notes/in.jsonl)"
grep -qF '"line":{' notes/in.jsonl || fail "$(shown notes/in.jsonl)"
everbloom add -q -o other.eb </dev/null; everbloom corpus in.jsonl -o x --against other.eb; status_is 2; err_has "other.eb: not made by 'everbloom corpus --collect'"
misused corpus '--collect takes one --unit' corpus x --collect y.eb --unit line --unit document
misused corpus '--context is for --against and --action remove' corpus x -o y --context 3

# Several units: one filter each, and no document meets itself; against a model with exact sets.
command -v python3 >/dev/null || skip 'no python3'
cat >model.py <<'P'
import json, random, sys
random.seed(5)
par = ["paragraph %d with some words" % i for i in range(400)]
docs = ["\n\n".join(random.choices(par, k=random.choice([1, 1, 2, 3, 4]))) for i in range(3000)]
with open("many.jsonl", "w") as f:
    for d in docs: f.write(json.dumps({"text": d}) + "\n")
def run(action):
    seen_doc, seen_par, out = set(), set(), []
    for d in docs:
        p = d.split("\n\n")
        old = sum(x in seen_par for x in p)
        if action == "drop":
            if d in seen_doc or old >= 0.8 * len(p): continue
            out.append(d)
        else:
            if d in seen_doc or old == len(p): continue
            here = set()
            out.append("\n\n".join(x for x in p if x not in seen_par and not (x in here or here.add(x))))
        seen_doc.add(d); seen_par.update(p)
    with open("want." + action, "w") as f:
        for d in out: f.write(json.dumps({"text": d}) + "\n")
run("drop"); run("remove")
P
python3 model.py || fail 'the model fails'
for action in drop remove; do
    everbloom corpus many.jsonl -o both.$action -q --unit document --unit paragraph --action $action; status_is 0
    same both.$action/many.jsonl want.$action
done
