# everbloom corpus: documents of a GB, in JSON and as plain text, beside small ones; one of 2 GiB and more is bad, and counted.
. "$EXPECT"
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
[ -n "${EVERBLOOM_LARGE:-}" ] || skip "needs minutes and gigabytes: give EVERBLOOM_LARGE=1"
mkdir in
words() { yes "$1 words of a long text that goes on and on" | tr '\n' ' ' | head -c "$2"; }
{ for i in 1 2; do printf '{"text":"'; words some 1073741824; printf '"}\n{"text":"small %d"}\n' $i; done; } >in/a.jsonl
everbloom corpus in -o tree --json -q; status_is 0
[ "$(value documents)" = 4 ] && [ "$(value kept)" = 3 ] && [ "$(value bad)" = 0 ] || fail "$(shown err)"
head -n 2 in/a.jsonl >want; tail -n 1 in/a.jsonl >>want; same tree/a.jsonl want
rm -r tree in/a.jsonl want
{ printf '{"text":"'; words more 2147483700; printf '"}\n{"text":"small"}\n'; } >in/b.jsonl
everbloom corpus in --action report --json -q; status_is 0
[ "$(value documents)" = 1 ] && [ "$(value bad)" = 1 ] || fail "$(shown err)"; err_has 'the text is longer than 2 GiB'
