# dedup chooses a filter: by the lines it may drop, and by what the stream will be.
. "$EXPECT"

printf 'a\nb\na\n' >in
everbloom dedup --json in
status_is 0; out_is 'a\nb\n'; err_has '"filter":"lru:'
everbloom dedup --json --max-drop 0.01 -m 1M --seed 3 in
err_has '"filter":"lru:bucket=line,print_bits=12,slots=40,'
everbloom dedup --json --items 1e6 --distinct 1e5 --max-drop 1e-3 -m 1M in
status_is 0; out_is 'a\nb\n'
grep -q '"filter":"bloom:\|"filter":"choosy:\|"filter":"lru:' err || fail "forgets: $(shown err)"
everbloom dedup --items 1e6 in
status_is 2; err_has 'everbloom: --items and --distinct: give both of them'
everbloom dedup --items 10 --distinct 20 in
status_is 2; err_has 'everbloom: --distinct must not be more than --items'
everbloom dedup --json --max-drop 1% -m 1M --seed 3 in
err_has '"filter":"lru:bucket=line,print_bits=12,slots=40,'
everbloom dedup --items 1e6 --distinct 1e5 -m 64X in
status_is 2; err_has 'everbloom: -m must be a size from 1K to 64T, such as 500K, 64M or 2GiB, not "64X"'
everbloom dedup --max-drop 0.1 --filter lru in
status_is 2; err_has 'everbloom: --max-drop, --items and --distinct choose a filter: not with --filter'
everbloom dedup --json --items 3e6 --distinct 552820 --max-drop 0.1 -m 138K in
err_has '"filter":"lru:'
everbloom dedup --json --items 3e6 --distinct 552820 --max-drop 0.1 -m 138K --order recent in
err_has '"filter":"lru:'
everbloom dedup --json --items 3e6 --distinct 552820 --max-drop 0.1 -m 138K --order shuffled in
err_has '"filter":"choosy:'
# 20000 keys, twice: room for half of them.
awk 'BEGIN { for (i = 0; i < 40000; i++) print i % 20000 }' >twice
everbloom dedup --json --items 40000 --distinct 20000 --max-drop 1e-4 -m 20K --seed 1 --order passes twice
status_is 0; err_has '"filter":"choosy:'
passed=$(($(wc -l <out) - 20000))
[ "$passed" -lt 12000 ] || fail "of 20000 repeats $passed passed"
everbloom dedup --json --items 40000 --distinct 20000 --max-drop 1e-4 -m 20K --seed 1 --order recent twice
[ "$(wc -l <out)" -gt 32000 ] || fail "recent: $(wc -l <out) lines"
everbloom plan --items 40000 --distinct 20000 --max-fpr 1e-4 -m 20K --order passes --gap 100
status_is 2; err_has 'passes need distinct, and have neither gap (100) nor zipf (0)'
everbloom dedup --order shuffled in
status_is 2; err_has 'everbloom: --items and --distinct: give both of them'
