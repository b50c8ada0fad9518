# dedup that is told how many lines come, but not in what order, looks at the first ones.
. "$EXPECT"

# 100000 lines of 40000 keys, the same everywhere
awk 'BEGIN { x = 1; for (i = 0; i < 100000; i++) { x = x * 16807 % 2147483647; print x % 40000 } }' >random
# Each key three times, at once; and no repeat in the first two thirds
awk '{ k = int(NR / 3); print k }' random >near
awk '{ print NR % 65000 }' random >late

plan=(--items 100000 --distinct 36000 -m 10K --max-drop 10%)
judged() { # judged FILE: shares of new lines lost and of repeats passed, in percent
    awk '{ k = $2; new = !(k in had); had[k] = 1; all[new]++; wrong[new] += $1 == new }
         END { print int(100 * wrong[1] / all[1]), int(100 * wrong[0] / all[0]) }' out
}

everbloom dedup "${plan[@]}" --seed 5 --mark --json random
status_is 0; err_has '"filter":"choosy:'; err_has '"order":"shuffled, as seen"'
cp out whole
read -r lost passed < <(judged)
[ "$lost" -lt 10 ] && [ "$passed" -lt 25 ] || fail "lost $lost %, passed $passed %"
everbloom dedup "${plan[@]}" --seed 5 --mark --json --order any random
err_has '"filter":"lru:'
read -r lost passed < <(judged)
[ "$lost" -lt 10 ] && [ "$passed" -gt 40 ] || fail "any: lost $lost %, passed $passed %"
for file in near late; do
    everbloom dedup "${plan[@]}" --json $file
    err_has '"filter":"lru:'; err_has '"order":"not shuffled, as seen"'
done

# How the input is cut does not matter, and no line waits for the look to end.
for size in 7 4096 100000; do
    everbloom dedup "${plan[@]}" --seed 5 --mark < <(dd bs=$size if=random 2>/dev/null | head -c 60000)
    head -n "$(wc -l <out)" whole >want
    head -n "$(($(wc -l <out) - 1))" out >most; head -n "$(($(wc -l <out) - 1))" want >want_most
    same most want_most
done
mkfifo lines
"$EVERBLOOM" dedup "${plan[@]}" <lines >early &
job=$!
exec 9>lines
printf 'a\na\nb\n' >&9
for _ in $(seq 100); do [ "$(wc -l <early)" -eq 2 ] && break; sleep 0.1; done
[ "$(cat early)" = $'a\nb' ] || fail "lines wait: $(shown early)"
exec 9>&-
wait $job

# A state keeps what was decided, and takes the same options again.
head -n 50000 random >first; tail -n +50001 random >rest
everbloom dedup "${plan[@]}" --seed 5 --mark --state s first
status_is 0; cp out parts
everbloom dedup "${plan[@]}" --mark --json --state s rest
status_is 0; err_has '"filter":"choosy:'; cat out >>parts
same parts whole
everbloom dedup "${plan[@]}" --state s --order any rest
status_is 2; err_has 'holds a different filter'
everbloom dedup "${plan[@]}" --state t near; status_is 0
everbloom dedup "${plan[@]}" --json --state t random
status_is 0; err_has '"filter":"lru:'
# Saved while it looks: the filter for any order, which stays.
head -n 300 random | everbloom dedup "${plan[@]}" --state u
everbloom dedup "${plan[@]}" --json --state u random
status_is 0; err_has '"filter":"lru:'
