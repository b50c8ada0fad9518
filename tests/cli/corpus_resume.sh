# everbloom corpus: killed at any time and run again, the output is that of an unbroken run.  EVERBLOOM_KILLS=200: many times.
. "$EXPECT"
slow
"$EVERBLOOM" corpus --action report /dev/null 2>&1 | grep -q 'without utf8proc' && skip "built without utf8proc"
kills=${EVERBLOOM_KILLS:-5}
# Where syncing takes no time, if there is such a place: kills shall fall into work, not into waiting for a disk.
trees=$PWD; [ -w /dev/shm ] && trees=$(mktemp -d -p /dev/shm everbloom.XXXXXX) && trap 'rm -rf "$trees"' EXIT
mkdir -p in/a in/b
lines() { awk -v seed=$1 -v n=$2 'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "{\"id\":%d,\"text\":\"%d first line\\nline %d of many\\nboilerplate\"}\n", i, rand() * n, rand() * n * 2 }'; }
lines 1 72000 >in/a/1.jsonl; lines 2 15000 | gzip -1 >in/a/2.jsonl.gz; lines 3 10000 | zstd -q >in/b/3.jsonl.zst; lines 4 5000 >in/b/4.jsonl
for i in 1 2 3; do echo "a text, number $((i % 2))" >in/b/$i.txt; done
options=(in -q --unit document --unit line --action remove --save-every 1ms)
everbloom corpus "${options[@]}" -o "$trees/whole"; status_is 0
same_tree() { diff -r -x .everbloom "$trees/whole" "$1" || fail "$1 differs from the output of an unbroken run"; [ "$(tail -n 1 "$1/.everbloom/run")" = complete ] || fail "$1 is not complete"; }
started() { "$EVERBLOOM" corpus "${options[@]}" -o "$@" & pid=$!; } # TREE OPTION...
killed() { kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null; [ $? = 137 ]; } # false: it had ended
has_checkpoint() { [ -e "$1/.everbloom/checkpoint" ]; }
reached() { # TREE: waits until the run has a checkpoint; false: it ended without one that was seen
    until has_checkpoint "$1"; do kill -0 $pid 2>/dev/null || return; done
}
counts() { value documents; value line_seen; value kept_bytes; }
pause() { sleep 0.$(printf %03d $((RANDOM % 80))); }
# A run that was killed behind a checkpoint.  A busy machine may let a run end before anybody looks, but not a hundred times.
begun() { # TREE OPTION...
    for try in $(seq 100); do
        rm -rf "$1"; started "$@"; reached "$1"; killed
        has_checkpoint "$1" && [ "$(tail -n 1 "$1/.everbloom/run")" = begun ] && return
    done
    fail 'no run of a hundred had a checkpoint when it was killed'
}

# Killed behind a checkpoint, then at other times while it goes on: where these fall does not matter.
RANDOM=7 kills_done=0
while [ $kills_done -lt $kills ]; do
    begun "$trees/tree" --threads $((1 + RANDOM % 3)); kills_done=$((kills_done + 1))
    for part in $(seq $((RANDOM % 5))); do
        started "$trees/tree" --threads $((1 + RANDOM % 3)); pause; killed && kills_done=$((kills_done + 1))
    done
    everbloom corpus "${options[@]}" -o "$trees/tree"; status_is 0
    same_tree "$trees/tree"
done
# Killed at the start, also before anything was saved.
rm -rf "$trees/tree"
for part in 1 2; do started "$trees/tree"; pause; killed; done
everbloom corpus "${options[@]}" -o "$trees/tree"; status_is 0; same_tree "$trees/tree"

# What was written behind the checkpoint is written again; so is a file that was complete.
for how in begun complete; do
    for try in $(seq 100); do
        begun "$trees/behind"; part=$trees/behind/.everbloom/part.0
        [ -e "$part" ] && break # else the checkpoint is of another file
    done
    seq 100000 >>"$part"
    [ $how = complete ] && mkdir -p "$trees/behind/a" && mv "$part" "$trees/behind/a/1.jsonl"
    everbloom corpus "${options[@]}" -o "$trees/behind"; status_is 0; same_tree "$trees/behind"
done

# A message names the line that it would name in an unbroken run.
{ cat in/a/1.jsonl; echo '{"text":'; } >bad.jsonl
fails() { everbloom corpus bad.jsonl -q --on-bad fail --save-every 1ms -o "$1"; status_is 2; sed -n 's/.*\(line [0-9]*\).*/\1/p' err; }
fails unbroken >want
for try in $(seq 100); do
    rm -rf broken; "$EVERBLOOM" corpus bad.jsonl -q --on-bad fail --save-every 1ms -o broken 2>err & pid=$!
    reached broken; killed && has_checkpoint broken && break
done
fails broken >got; same got want; [ "$(cat want)" = 'line 72001' ] || fail "$(cat want)"

# A signal that asks: it stops, and goes on; the counts of the report are those of the whole.
options+=(--report report.json)
everbloom corpus "${options[@]}" --json --force -o "$trees/whole"; counts >want; value keys report.json >>want
for try in $(seq 100); do
    rm -rf "$trees/asked"; started "$trees/asked"; reached "$trees/asked"
    kill -TERM $pid 2>/dev/null; wait $pid; stopped=$?
    [ $stopped = 0 ] || break # else it had ended before it was asked
done
[ $stopped = 143 ] || fail "it did not stop: status $stopped"
everbloom corpus "${options[@]}" --json -o "$trees/asked"; status_is 0; same_tree "$trees/asked"
counts >got; value keys report.json >>got; same got want
# Another input, other options, a damaged checkpoint.
begun "$trees/broken"
everbloom corpus "${options[@]}" --threshold 0.5 -o "$trees/broken"; status_is 2; err_has 'the folder has a run begun with other options'
everbloom corpus "${options[@]::${#options[@]}-2}" -o "$trees/broken"; status_is 2; err_has 'with other options'
for other in '--seed 7' '--max-drop 0.01' '--on-full stop' '--on-bad skip' '--level 3' '--text body' '--unit ngram:5' \
    '--normalise none' '--action drop'; do
    # shellcheck disable=SC2086
    everbloom corpus "${options[@]}" $other -o "$trees/broken"; status_is 2
    case $other in --unit*|--normalise*) differs='--unit, --normalise, --similarity or --against' ;; *) differs=${other% *} ;; esac
    err_has "the folder has a run begun with other options ($differs): give the same"
done
everbloom corpus "${options[@]}" -m 1K -o "$trees/broken"; status_is 2; err_has 'the filter of the run that goes on takes'
mv in/b/4.jsonl in/b/5.jsonl; everbloom corpus "${options[@]}" -o "$trees/broken"; status_is 2; err_has 'with other input'
mv in/b/5.jsonl in/b/4.jsonl; echo '{"text":"x"}' >>in/b/4.jsonl; touch -r in/b/1.txt in/b/4.jsonl
everbloom corpus "${options[@]}" -o "$trees/broken"; status_is 2; err_has 'with other input'
head -n 5000 in/b/4.jsonl >more; cp more in/b/4.jsonl
touch in/b/4.jsonl; everbloom corpus "${options[@]}" -o "$trees/broken"; status_is 2; err_has 'with other input'
everbloom corpus "${options[@]}" -o "$trees/broken" --force; status_is 0; same_tree "$trees/broken"
begun "$trees/broken"; saved=$trees/broken/.everbloom/checkpoint
printf X | dd of="$saved" bs=1 seek=$(($(wc -c <"$saved") / 2)) conv=notrunc status=none
everbloom corpus "${options[@]}" -o "$trees/broken"; status_is 2; err_has 'the checkpoint is damaged'
