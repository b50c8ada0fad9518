# everbloom corpus: killed at any time and run again, the output is that of an unbroken run.  EVERBLOOM_KILLS=200: many times.
. "$EXPECT"
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
kills=${EVERBLOOM_KILLS:-5}
# Where syncing takes no time, if there is such a place: kills shall fall into work, not into waiting for a disk.
trees=$PWD; [ -w /dev/shm ] && trees=$(mktemp -d -p /dev/shm everbloom.XXXXXX) && trap 'rm -rf "$trees"' EXIT
mkdir -p in/a in/b
lines() { awk -v seed=$1 -v n=$2 'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "{\"id\":%d,\"text\":\"%d first line\\nline %d of many\\nboilerplate\"}\n", i, rand() * n, rand() * n * 2 }'; }
lines 1 36000 >in/a/1.jsonl; lines 2 15000 | gzip -1 >in/a/2.jsonl.gz; lines 3 10000 | zstd -q >in/b/3.jsonl.zst; lines 4 5000 >in/b/4.jsonl
for i in 1 2 3; do echo "a text, number $((i % 2))" >in/b/$i.txt; done
options=(in -q --unit document --unit line --action remove --save-every 1ms)
now() { date +%s%3N; }
start=$(now); everbloom corpus "${options[@]}" -o "$trees/whole"; status_is 0; took=$(($(now) - start))
same_tree() { diff -r -x .everbloom "$trees/whole" "$1" || fail "$1 differs from the output of an unbroken run"; [ "$(tail -n 1 "$1/.everbloom/run")" = complete ] || fail "$1 is not complete"; }
killed_after() { # MILLISECONDS TREE OPTION...: status 0 if it ended before
    local pid
    "$EVERBLOOM" corpus "${options[@]}" -o "${@:2}" & pid=$!
    sleep $(printf %d.%03d $(($1 / 1000)) $(($1 % 1000)))
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
}

# Each run is killed at another time, and goes on until it is killed again; now and then one ends.
RANDOM=7 killed=0 resumed=0
while [ $killed -lt $kills ]; do
    rm -rf "$trees/tree"
    for part in 1 2 3 4 5 6; do
        killed_after $((RANDOM % (took + took / 5) + 1)) "$trees/tree" --threads $((1 + RANDOM % 3)) && break
        killed=$((killed + 1))
        [ -e "$trees/tree/.everbloom/checkpoint" ] && resumed=$((resumed + 1))
    done
    everbloom corpus "${options[@]}" -o "$trees/tree"; status_is 0
    same_tree "$trees/tree"
done
[ $resumed -gt $((kills / 4)) ] || fail "of $killed killed runs only $resumed left a checkpoint"

# A signal that asks: it stops, and goes on; the counts of the report are those of the whole.
everbloom corpus "${options[@]}" --json --force -o "$trees/whole"; { value documents; value line_seen; value kept_bytes; } >want
"$EVERBLOOM" corpus "${options[@]}" -o "$trees/asked" & pid=$!
until [ -e "$trees/asked/.everbloom/checkpoint" ]; do kill -0 $pid 2>/dev/null || fail 'it was too quick to be stopped'; done
kill -TERM $pid; wait $pid; [ $? = 143 ] || fail 'it did not stop'
everbloom corpus "${options[@]}" --json -o "$trees/asked"; status_is 0; same_tree "$trees/asked"
{ value documents; value line_seen; value kept_bytes; } >got; same got want

# Another input, other options, a damaged checkpoint.
begun() { # TREE: a run that was killed behind a checkpoint
    while rm -rf "$1"; killed_after $((RANDOM % took + 1)) "$1" || [ ! -e "$1/.everbloom/checkpoint" ]; do :; done
}
begun "$trees/broken"
everbloom corpus "${options[@]}" --threshold 0.5 -o "$trees/broken"; status_is 2; err_has 'the folder has a run begun with other options'
touch in/b/4.jsonl; everbloom corpus "${options[@]}" -o "$trees/broken"; status_is 2; err_has 'with other input'
everbloom corpus "${options[@]}" -o "$trees/broken" --force; status_is 0; same_tree "$trees/broken"
begun "$trees/broken"; saved=$trees/broken/.everbloom/checkpoint
printf X | dd of="$saved" bs=1 seek=$(($(wc -c <"$saved") / 2)) conv=notrunc status=none
everbloom corpus "${options[@]}" -o "$trees/broken"; status_is 2; err_has 'the checkpoint is damaged'
