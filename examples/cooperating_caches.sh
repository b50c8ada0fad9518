#!/usr/bin/env bash
# cooperating_caches.sh - two caches that know what the other one has.
#
# Cache A keeps a summary of its pages and goes on storing new ones.  Cache B asks the summary,
# before it fetches a page from far away, whether A (probably) has it.  No lock is needed: A
# replaces the file in one step, and whoever has opened the old one keeps a whole view of it until
# he opens the file again.
#
#     EVERBLOOM=build/release/everbloom examples/cooperating_caches.sh
set -eu
everbloom=$(command -v "${EVERBLOOM:-everbloom}")
everbloom=$(realpath "$everbloom")
rounds=${ROUNDS:-8} pages=${PAGES:-500} # pages that A stores in a round
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

stored_in() { seq -f 'http://site/page/%.0f' $((($1 - 1) * pages + 1)) $(($1 * pages)); } # ROUND

# A: stores pages, adds them to its summary, then says which round that was.
cache_a() {
    for round in $(seq "$rounds"); do
        stored_in "$round" | "$everbloom" add --filter bloom:distinct=1e5,fpr=1e-4 --state summary.eb
        echo "$round" >round.new
        mv round.new round
    done
}

# B: asks whether A has all the pages of the rounds that A had finished before.
ask() {
    for round in $(seq "$(cat round)"); do stored_in "$round"; done >pages_of_a
    "$everbloom" test summary.eb pages_of_a >known || { echo "B missed a page of A" >&2; exit 1; }
}

cache_b() {
    local asked=1
    until [ -e round ] || ! kill -0 "$writer"; do sleep 0.01; done
    while kill -0 "$writer" 2>gone; do
        ask
        asked=$((asked + 1))
    done
    ask
    echo "B asked $asked times while A went on, and found all pages"
}

cache_a &
writer=$!
cache_b
wait "$writer"

# A stream instead of a file: over a pipe here, over ssh elsewhere.
printf '%s\n' http://site/page/1 http://site/page/2 http://elsewhere/ >wanted
cat summary.eb | "$everbloom" test - wanted >known || true # status 1: some are absent
echo "B knows from a stream: $(wc -l <known) of $(wc -l <wanted) pages"
stored_in 1 | "$everbloom" add -o - | "$everbloom" test - wanted >known || true
echo "B knows from a new summary: $(wc -l <known) of $(wc -l <wanted) pages"

# Later only what has changed is sent: diff makes a delta, patch brings B's copy up to date.
cp summary.eb copy_at_b.eb
cp summary.eb sent.eb
echo http://site/new | "$everbloom" add --state summary.eb
"$everbloom" diff sent.eb summary.eb >delta
"$everbloom" patch -o copy_at_b.eb copy_at_b.eb <delta
cmp copy_at_b.eb summary.eb
echo "B is up to date after $(stat -c %s delta) bytes, not $(stat -c %s summary.eb)"
