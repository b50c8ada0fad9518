#!/usr/bin/env bash
# important_caches.sh - two caches, and a summary that is too small for all pages.
#
# Cache B hears which pages its neighbour A is asked for, and gets a page from A if B's summary of A
# has it, from far away if not.  That costs 1..100, and the summary has room for a part of the pages
# only: it should know the dear ones.  The same requests go through a summary that does not know the
# costs and one of the same size that does: a request that dedup drops is one that B need not send
# far away.
#
#     EVERBLOOM=build/release/everbloom examples/important_caches.sh
set -eu
everbloom=$(command -v "${EVERBLOOM:-everbloom}")
everbloom=$(realpath "$everbloom")
requests=${REQUESTS:-300000} size=${SIZE:-32K} reach=${REACH:-30000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Half of the requests are for new pages, half for one of the last `reach` requests.  Numbers come
# from a generator of our own, so that every awk makes the same pages.
awk -v n="$requests" -v reach="$reach" '
function draw(below) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * below) }
BEGIN {
    state = 4711
    for (i = 0; i < n; i++) {
        back = 1 + draw(reach)
        page[i] = draw(2) && back <= i ? page[i - back] : i
        if (page[i] == i) cost[i] = 1 + draw(100)
        printf "http://site/page/%d\t%d\n", page[i], cost[page[i]]
    }
}' >asked

saved() { # saved OPTION...: per cent of what all repeats cost, which is all that can be saved
    "$everbloom" dedup -f 1 --seed 1 -m "$size" --max-drop 1e-3 "$@" asked >far
    awk -F '\t' 'FNR == NR { all += $2; if (!met[$1]++) once += $2; next } { far += $2 }
        END { printf "%.1f", 100 * (all - far) / (all - once) }' asked far
}

plain=$(saved)
important=$(saved --importance-field 2)
echo "B saves $plain % of the cost of repeats with a summary that does not know it"
echo "B saves $important % with one of the same size that does"
awk -v a="$plain" -v b="$important" 'BEGIN { exit !(b > a + 3) }'
