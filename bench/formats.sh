#!/usr/bin/env bash
# bench/formats.sh BUILD - CPU time of de-duplicating by a JSON key and by a CSV column, next to jq and mlr.
#
# One file of each format, half of the keys repeats; programs take turns, in another order in each of ROUNDS rounds.  CPU is user and system time of
# all processes of a pipeline.  Shown are medians, and the fastest and slowest round.  Rates are of our command alone, on the
# same file given four times; --threads 2 by the clock, fastest rounds.
set -eu
B=$1
rounds=${ROUNDS:-11} lines=${LINES_OF:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

awk -v n="$lines" -v json="$work/events.jsonl" -v csv="$work/orders.csv" 'BEGIN { x = 1
    print "order,customer,country,amount,note" >csv
    for (i = 0; i < n; i++) {
        x = (x * 16807) % 2147483647; key = x % int(n / 2)
        printf "{\"ts\":%d,\"level\":\"info\",\"user\":{\"id\":\"u%08d\",\"name\":\"somebody\"},\"path\":\"/item/%d/view\",\"ms\":%d.%d}\n", 1700000000 + i, key, x % 9999, x % 500, x % 10 >json
        printf "%d,C%08d,%s,%d.%02d,\"left, at \"\"the\"\" door %d\"\n", i, key, x % 3 ? "DE" : "FR", x % 900, x % 100, x % 77 >csv
    } }'
four_times() { for _ in 1 2 3 4; do printf '%s ' "$1"; done; }
declare -A run=(
    [json_everbloom]="'$B/everbloom' dedup -q --jsonl -f user.id '$work/events.jsonl'"
    [json_jq_mawk]="jq -r .user.id '$work/events.jsonl' | mawk '!s[\$0]++'"
    [csv_everbloom]="'$B/everbloom' dedup -q --csv -f customer '$work/orders.csv'"
    [csv_mlr]="mlr --icsv --ocsv head -n 1 -g customer '$work/orders.csv'"
    [json_rate]="'$B/everbloom' dedup -q --jsonl -f user.id $(four_times "$work/events.jsonl")"
    [csv_rate]="'$B/everbloom' dedup -q --csv -f customer $(four_times "$work/orders.csv")"
    [csv_two]="'$B/everbloom' dedup -q --threads 2 --csv -f customer $(four_times "$work/orders.csv")"
    [json_two]="'$B/everbloom' dedup -q --threads 2 --jsonl -f user.id $(four_times "$work/events.jsonl")")
names="json_everbloom json_jq_mawk csv_everbloom csv_mlr json_rate json_two csv_rate csv_two"
for p in $names; do eval "${run[$p]}" | wc -l >"$work/$p.lines"; done # untimed: files into the cache
order=($names)
for ((i = 0; i < rounds; i++)); do
    mapfile -t order < <(printf '%s\n' "${order[@]}" | shuf --random-source=<(yes "$i")) # nobody always follows the same one
    for p in "${order[@]}"; do
        TIMEFORMAT='%U %S %R'
        { time bash -c "${run[$p]} >/dev/null"; } 2>"$work/took"
        awk -v p="$p" 'END { print p, $1 + $2, $3 }' "$work/took" >>"$work/raw"
    done
done
sort -k 1,1 -k 2,2n "$work/raw" | awk -v json="$(stat -c %s "$work/events.jsonl")" -v csv="$(stat -c %s "$work/orders.csv")" '
    { n[$1]++; cpu[$1, n[$1]] = $2; if (!wall[$1] || $3 < wall[$1]) wall[$1] = $3 }
    function mid(p) { return cpu[p, int((n[p] + 1) / 2)] }
    function row(p, what) { printf "%-44s %8.3f %8.3f..%.3f\n", what, mid(p), cpu[p, 1], cpu[p, n[p]] }
    END {
        printf "%-44s %8s %s\n", "", "CPU s", "fastest..slowest"
        row("json_everbloom", "dedup --jsonl -f user.id")
        row("json_jq_mawk", "jq -r .user.id | mawk \"!s[$0]++\"")
        printf "%-44s %8.1f\n", "  times our CPU", mid("json_jq_mawk") / mid("json_everbloom")
        row("csv_everbloom", "dedup --csv -f customer")
        row("csv_mlr", "mlr head -n 1 -g customer")
        printf "%-44s %8.1f\n", "  times our CPU", mid("csv_mlr") / mid("csv_everbloom")
        printf "%-44s %8.0f\n", "JSON, MB in a second of CPU", 4 * json / 1e6 / mid("json_rate")
        printf "%-44s %8.0f\n", "CSV, MB in a second of CPU", 4 * csv / 1e6 / mid("csv_rate")
        printf "%-44s %8.2f\n", "JSON: --threads 2, times as fast by the clock", wall["json_rate"] / wall["json_two"]
        printf "%-44s %8.2f\n", "CSV: --threads 2, times as fast by the clock", wall["csv_rate"] / wall["csv_two"]
    }'
[ "$(cat "$work/json_everbloom.lines")" -le "$(cat "$work/json_jq_mawk.lines")" ] &&
    [ "$(cat "$work/csv_everbloom.lines")" -le "$(cat "$work/csv_mlr.lines")" ]
echo "lines out: JSON $(cat "$work/json_everbloom.lines") of $(cat "$work/json_jq_mawk.lines"), CSV $(cat "$work/csv_everbloom.lines") of $(cat "$work/csv_mlr.lines")"
