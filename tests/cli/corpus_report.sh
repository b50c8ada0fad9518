# everbloom corpus --report: JSON and a page, by folder, with what is repeated most; the same after an interruption.
. "$EXPECT"
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
mkdir -p in/a in/b
awk 'BEGIN { for (i = 0; i < 300; i++) printf "{\"text\":\"unique %d\\nevery time <b>\\n%s\"}\n", i, i % 3 ? "now and then" : "line " i }' >in/a/1.jsonl
sed 's/unique/other/' in/a/1.jsonl >in/b/2.jsonl
everbloom corpus in --action report -q --unit line --report r.json; status_is 0
python3 - <<'P' || fail 'the report in JSON is not as expected'
import json
r = json.load(open("r.json"))
assert [f["name"] for f in r["folders"]] == ["a", "b"]
assert r["total"]["documents"] == 600 and r["total"]["units"]["line"] == {"all": 1800, "seen": 599 + 399 + 100}, r["total"]
assert sum(f["units"]["line"]["seen"] for f in r["folders"]) == r["total"]["units"]["line"]["seen"]
assert sum(c["documents"] for c in r["course"]) == 600 and sum(c["line"]["seen"] for c in r["course"]) == 1098
top = [(t["text"], t["count"]) for t in r["most_repeated"]]
assert top[:2] == [("every time <b>", 600), ("now and then", 400)] and top[2][1] == 2, top
f = r["filters"][0]
assert 0 <= f["expected_wrong"] < 1e-6 * 1800 and f["expected_missed"] == 0 and f["keys"] <= f["planned"]
P
everbloom corpus in --action report -q --unit line --report r.html; status_is 0
grep -q '<svg' r.html || fail 'no plot'; grep -q 'every time &#60;b&#62;' r.html || fail 'the text of a unit is not escaped'
grep -Eq 'src=|href=|url\(' r.html && fail 'the page needs something else'
everbloom corpus in -o tree -q --unit line --report tree.json; status_is 0; exists tree.json
