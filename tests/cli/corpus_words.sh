# everbloom corpus: what is compared, beside an awk that normalises character by character: documents, lines, runs of two words.
. "$EXPECT"
slow
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
# ASCII in pieces of all lengths, written again with other cases, blanks and marks, or with a letter more; rarely another character.
awk 'BEGIN { srand(11); for (i = 0; i < 3000; i++) {
        if (rand() < 0.5 || i == 0) { n = int(rand() * rand() * 260); t = ""; for (j = 0; j < n; j++) t = t substr("abcXYZ019$", 1 + int(rand() * 10), 1) (rand() < 0.3 ? substr(" \t.-,;:/ \r", 1 + int(rand() * 10), 1) : "") (rand() < 0.02 ? "\n" : "") (rand() < 0.003 ? "\303\251" : "") }
        else { r = rand(); if (r < 0.3) t = toupper(t); else if (r < 0.5) gsub(/ /, " \t ", t); else if (r < 0.7) { sub(/a/, ".a", t); t = t " -" } else if (r < 0.8) t = t "a"; else if (r < 0.9) sub(/ /, "", t) }
        s = t; gsub(/\t/, "\\t", s); gsub(/\r/, "\\r", s); gsub(/\n/, "\\n", s); printf "{\"text\":\"%s\"}\n", s } }' >in.jsonl
cat >twin.awk <<'A'
function plain(s) { s = tolower(s); gsub(/[!"#%&'()*,.\/:;?@\\_{}-]|\[|\]/, "", s); gsub(/[ \t\r\n]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); gsub(/\303\211/, "\303\251", s); return s }
{ s = substr($0, 10, length($0) - 11); gsub(/\\t/, "\t", s); gsub(/\\r/, "\r", s); gsub(/\\n/, "\n", s)
  p = plain(s); words = split(p, word, " "); all += words
  if (p == "" || !(p in documents)) { print >"want"; documents[p] }
  n = split(s, line, "\n"); for (i = 1; i <= n; i++) { line[i] = plain(line[i]); if (line[i] != "") { lines++; lines_seen += line[i] in known } }
  for (i = 1; i <= n; i++) known[line[i]]
  m = words == 1 ? 1 : words - 1; for (i = 1; i <= m; i++) { runs++; runs_seen += (word[i] " " word[i + 1]) in run }
  for (i = 1; i <= m; i++) run[word[i] " " word[i + 1]]; delete word }
END { printf "%d %d %d %d %d\n", all, lines, lines_seen, runs, runs_seen }
A
LC_ALL=C awk -f twin.awk in.jsonl >counts; read -r words lines lines_seen runs runs_seen <counts
everbloom corpus in.jsonl -o tree -q; status_is 0; same tree/in.jsonl want
everbloom corpus in.jsonl -o marked --json --action annotate --unit line --unit ngram:2; status_is 0
got="$(value words) $(value line_units) $(value line_seen) $(value ngram:2_units) $(value ngram:2_seen)"
[ "$got" = "$words $lines $lines_seen $runs $runs_seen" ] || fail "found $got, not $(cat counts)"

# Strings of JSON with escapes at all places, and what is no escape: a text is the same however it is written.
command -v python3 >/dev/null || skip 'no python3'
cat >strings.py <<'P'
import random
random.seed(7)
short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
bad = ["\x01", "\t", "\\q", "\\\x7f", "\\€", "\\u12g4", "\\ud800", "\\ud800\\n", "\\udc00"]
def written(c):
    how = random.random()
    if c in short and (c != "/" or how < 0.5) and how < 0.8: return short[c]
    if c >= " " and c not in '"\\' and how < 0.97: return c
    units = c.encode("utf-16-be").hex()
    return "".join("\\u" + units[i : i + 4] for i in range(0, len(units), 4))
seen, size, wrong, want = set(), 0, 0, []
with open("strings.jsonl", "w", encoding="utf-8") as f:
    for i in range(6000):
        if i == 0 or random.random() < 0.5:
            few = random.choice(['ab "\n', "abcdefghij klm\n", "\\\\\\a", "xyz\té€\U0001f600/\b\f\r"])
            text = "".join(random.choice(few) for _ in range(int(random.random() ** 2 * 300)))
        parts = [written(c) for c in text]
        broken = random.random() < 0.05
        if broken: parts.insert(random.randrange(len(parts) + 1), random.choice(bad))
        if broken and random.random() < 0.1: parts.append("\\")
        line = '{"id":%d,"other":"%s","text":"%s"}\n' % (i, "".join(written(c) for c in text[:40]), "".join(parts))
        f.write(line)
        if broken or not text.strip(" \t\n\v\f\r") or text not in seen: want.append(line)
        if broken: wrong += 1
        else: seen.add(text); size += len(text.encode())
with open("strings.want", "w", encoding="utf-8") as f: f.writelines(want)
print(wrong, size)
P
python3 strings.py >numbers; read -r wrong size <numbers
everbloom corpus strings.jsonl -o strings --json --normalise none; status_is 0; same strings/strings.jsonl strings.want
[ "$(value bad) $(value text_bytes)" = "$wrong $size" ] || fail "found $(value bad) bad records and $(value text_bytes) bytes, not $(cat numbers)"
