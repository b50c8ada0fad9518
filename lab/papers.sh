#!/usr/bin/env bash
# papers.sh LAB [--scale N] [--seeds N] ... - writes docs/papers/ from the laboratory's output.
#
# lab/papers/KEY.md is the text.  Its lines "@lab ARGUMENTS" are replaced by what
# `everbloom-lab ARGUMENTS --md` prints (@work: where the sample text is), "@file NAME" by
# a file of docs/papers/, and "@counters NUMBER MEAN" by rows of the last benchmark of counters.
# Plots come from CSV and gnuplot.
# PAPERS="000 001" in the environment: only these.
set -euo pipefail
lab=$1
shift
flags=("$@")
here=$(dirname "$0")
out=docs/papers
work=$(dirname "$lab")/papers
mkdir -p "$out" "$work"
rm -f "$work/broken"

# Prints what the laboratory prints.  It is kept and used again until the laboratory is built anew,
# so that an interrupted run goes on where it was.  A broken promise does not stop the document, but
# is tried again the next time.
run() {
    local kept rc=0
    kept=$work/$(printf '%s_' "$@" "${flags[@]}" | tr -c 'A-Za-z0-9._-' _)
    if ! [ "$kept" -nt "$lab" ]; then
        "$lab" "$@" "${flags[@]}" >"$kept.part" || rc=$?
        case $rc in
        0) mv "$kept.part" "$kept" ;;
        1) touch "$work/broken" && kept=$kept.part ;;
        *) exit $rc ;;
        esac
    fi
    cat "$kept"
}

plot() { # script, output, heading, data, figure
    gnuplot -e "plots='$here/plots'; out='$out/$2'; heading='$3'; data='$4'; figure=${5:-0}" "$here/plots/$1"
}

plots_003() {
    "$lab" clicks >"$work/clicks.txt"
    run 003 figures --csv >"$work/figures.csv"
    run 003 tradeoff --csv >"$work/tradeoff.csv"
    run 003 gap-curves --seeds 1 --scale 500 --csv >"$work/gaps.csv"
    local figure title
    while read -r figure title; do
        plot 003-rates.gp "003-figure-$figure.svg" "$title" "$work/figures.csv" "$figure"
    done <<'LIST'
2 Figure 2: 1000M records, 15 % distinct, 128 MB
3 Figure 3: 1000M records, 15 % distinct, 256 MB
4 Figure 4: 1000M records, 15 % distinct, 512 MB
5 Figure 5: 1000M records, 60 % distinct, 128 MB
6 Figure 6: 1000M records, 60 % distinct, 256 MB
7 Figure 7: 1000M records, 60 % distinct, 512 MB
8 Figure 8: 695M records, 15 % distinct, 512 MB
9 Figure 9: 695M records, 60 % distinct, 512 MB
10 Figure 10: 695M records, 90 % distinct, 512 MB
LIST
    plot 003-load.gp 003-figure-11.svg "Figure 11: load, 1000M records, 15 % distinct" "$work/figures.csv"
    plot 003-tradeoff.gp 003-tradeoff.svg "What each filter can trade" "$work/tradeoff.csv"
    plot 003-gaps.gp 003-gaps.svg "Endless streams, half of the records new, 16 MB for 1000M records" "$work/gaps.csv"
}

plots_000() {
    run 000 zeros --csv >"$work/zeros.csv"
    run 000 arrays --csv >"$work/arrays.csv"
    run 000 fitted --csv >"$work/fitted.csv"
    run 000 gap-curves --csv >"$work/gap-curves.csv"
    run 000 horizon --csv >"$work/horizon.csv"
    plot 000-zeros.gp 000-zeros.svg "Figure 18: zero cells, K = 5, P = 10" "$work/zeros.csv"
    plot 000-arrays.gp 000-arrays.svg "Figures 10-17: errors by importance, 30 % repeats, K = 5, P = 10" "$work/arrays.csv"
    plot 000-fitted.gp 000-fitted.svg "Figures 3-8: the fitted stream, K = 5, P = 10" "$work/fitted.csv"
    plot 000-gaps.gp 000-gaps.svg "MC, 16 KB, K = 5, P = 10: false negatives by class" "$work/gap-curves.csv"
    plot 000-horizon.gp 000-horizon.svg "Equal FPR of 20 %, 16 KB: what is forgotten" "$work/horizon.csv"
}

plots_001() {
    run 001 surface --csv >"$work/surface.csv"
    run 001 skew --csv >"$work/skew.csv"
    plot 001-surface.gp 001-surface.svg "Figure 1: two classes, 14 bits a member" "$work/surface.csv"
    plot 001-skew.gp 001-skew.svg "Zipf queries, 8 bits a member: improvement over a plain filter" "$work/skew.csv"
}

plots_004() {
    run 004 figure1 --csv >"$work/figure1.csv"
    run 004 curves --csv >"$work/curves.csv"
    run 004 forest --csv >"$work/forest.csv"
    run 004 codes --csv >"$work/codes.csv"
    run 004 icebergs --csv >"$work/icebergs.csv"
    curves() { plot 004-curves.gp "$2" "$3" "$work/curves.csv" "'$1'; axis='$4'"; }
    plot 004-figure1.gp 004-figure-1.svg "Figure 1: what the report expects of errors (10000 keys, k = 5)" "$work/figure1.csv"
    curves 6a 004-figure-6.svg "Figures 6a and 6b: skew 0.5, k = 5" "gamma = n k / m"
    curves 6c 004-figure-6c.svg "Figure 6c: skew 0.5, gamma = 0.7" "k"
    curves 8 004-figure-8.svg "Figure 8, inserts only: gamma = 0.7, k = 5" "skew"
    curves 8d 004-figure-8d.svg "Figure 8, with deletions: gamma = 0.7, k = 5" "skew"
    curves 9 004-figure-9.svg "Figure 9, a window of a fifth: gamma = 0.7, k = 5" "skew"
    plot 004-forest.gp 004-figure-7.svg "Figure 7: counts shaped like elevations, k = 5" "$work/forest.csv"
    plot 004-figure4.gp 004-figure-4.svg "Figure 4: false answers to iceberg queries, gamma = 1, k = 5" "$work/icebergs.csv"
    plot 004-codes.gp 004-figure-10.svg "Figure 10: minimum selection, k = 5, gamma = 0.7, skew 0.5" "$work/codes.csv"
}

plots_002() {
    run 002 memory-curves --csv >"$work/memory-curves.csv"
    run 002 error-curves --seeds 1 --scale 5 --csv >"$work/error-curves.csv"
    plot 002-memory.gp 002-memory.svg "Figure 3: memory under skew and decay, k = 4, m/n = 5.8" "$work/memory-curves.csv"
    plot 002-errors.gp 002-errors.svg "Estimates above the truth, Zipf 1, four arrivals a key and epoch" "$work/error-curves.csv"
}

# What `everbloom-bench --counters` has measured last, of so many counters and this mean count.
counters() { # counters, mean
    local kept=(bench/results/*/counters.txt)
    printf '| store | add, ns | times u32 | look up, ns | times u32 | bits for a counter | spread |\n'
    printf '| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n'
    awk -v counters="$1" -v mean="$2" '
    $1 == counters && $2 == mean && $3 != "u8" && !($3 == "frozen" && $4 != "line") { # stores that are gone
        row = "| " $3
        for (i = 4; i <= NF; i++) row = row (i < NF - 5 ? " " : " | ") $i
        print row " |"
        rows++
    }
    END { exit !rows }' "${kept[-1]}"
}

text() {
    while IFS= read -r line; do
        case $line in
        "@lab "*)
            local args=${line#@lab }
            # shellcheck disable=SC2086
            run ${args//@work/$work} --md
            ;;
        "@counters "*)
            # shellcheck disable=SC2086
            counters ${line#@counters }
            ;;
        "@file "*) cat "$out/${line#@file }" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}

for template in "$here"/papers/*.md; do
    key=$(basename "$template" .md)
    [[ " ${PAPERS:-$key} " == *" $key "* ]] || continue
    "plots_$key"
    text "$template" >"$work/$key.md"
    mv "$work/$key.md" "$out/$key.md"
done
! [ -e "$work/broken" ]
