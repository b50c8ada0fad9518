#!/bin/bash
# Makes the tables of docs/decisions/corpus.md again: CPU seconds for a GB of text, of everbloom corpus and of its peers, on
# text of this machine, and seconds on the wall with one thread and with two.  Peers: a venv with dolma (DOLMA=venv) and one with
# datatrove (DATATROVE=venv); those that are not given are left out.  ROUNDS (default: 3) interleaved rounds, medians; the start of
# each program, measured on a small corpus, is taken off.  All read the same gzipped files and find what is repeated; nobody writes
# texts, because dolma and datatrove leave that to other steps.  Rows "unpacked" read the same text from plain files: the
# difference is what unpacking costs.  BYTES of text (default: 5e8) from FOLDERS; UNITS: some of documents, lines, ngrams (default:
# all); WORK: a folder that is kept, with the texts for the next time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
everbloom=${EVERBLOOM:-$here/../build/release/everbloom} peers=$here/corpus_peers.py rounds=${ROUNDS:-3} bytes=${BYTES:-5e8} units=${UNITS:-documents lines ngrams}
work=${WORK:-}; [ -n "$work" ] || { work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; }
folders=${FOLDERS:-/usr/share /usr/include}
corpus() { # NAME BYTES: makes it, if it is not there, also unpacked; says how many bytes it has
    if [ ! -e "$work/$1.bytes" ]; then
        # shellcheck disable=SC2086
        python3 "$peers" make "$work/$1" "$2" $folders >"$work/$1.made"
        mkdir -p "$work/$1.plain/documents"
        for f in "$work/$1"/documents/*.gz; do gzip -dc "$f" >"$work/$1.plain/documents/$(basename "$f" .gz)"; done
        mv "$work/$1.made" "$work/$1.bytes"
    fi
    cat "$work/$1.bytes"
}
large=$(corpus large "$bytes") small=$(corpus small 1e6)
rm -f "$work/results" "$work/rows"
echo "text: $large bytes in $(find "$work/large" -name '*.gz' | wc -l) files; $(python3 --version); $(jq --version)"
[ -z "${DOLMA:-}" ] || "$DOLMA/bin/pip" list 2>/dev/null | grep -i '^dolma '
[ -z "${DATATROVE:-}" ] || "$DATATROVE/bin/pip" list 2>/dev/null | grep -i '^datatrove '

ours() { "$everbloom" corpus "$1/documents" --action report -q "${@:2}"; } # CORPUS OPTION...
size() { "$everbloom" corpus "$work/large/documents" --action report "$@" 2>&1 | sed -n 's/.* a \([0-9.]*\) \([KMG]\)iB filter.*/\1 \2/p' |
    awk '{ printf "%d\n", $1 * ($2 == "G" ? 2^30 : $2 == "M" ? 2^20 : 1024) }'; }
dolma() { # CORPUS PART BYTES: PART is documents or paragraphs (which are lines); as many bytes as ours
    cat >"$work/dolma.yaml" <<Y
documents: ["$1/documents/*"]
dedupe: {name: d, skip_empty: true, $2: {$([ "$2" = documents ] && echo 'key: $.text, ')attribute_name: dup}}
bloom_filter: {file: $work/out/bloom, size_in_bytes: $3, read_only: false, estimated_doc_count: $(($3 * 8 / 29)), desired_false_positive_rate: 0.000001}
processes: 1
Y
    mkdir -p "$work/out"; "$DOLMA/bin/dolma" -c "$work/dolma.yaml" dedupe; rm -rf "$1/attributes"
}
sorted() { gzip -dc "$1"/documents/*.gz | jq "$2" .text | LC_ALL=C sort -u -S 50% >/dev/null; } # CORPUS -r (lines) or -c (documents)
by_set() { python3 "$peers" set "$2" "$1"; }
trove() { mkdir -p "$work/out"; "$DATATROVE/bin/python" "$peers" datatrove "$1" "$work/out" "$2"; }

documents=$(size --unit document) lines=$(size --unit line) ngrams=$(size --unit ngram:13)
cat >"$work/rows" <<R
documents	everbloom	ours @
documents	everbloom, unpacked	ours @.plain
documents	everbloom, as written	ours @ --normalise none
documents	python set	by_set @ documents
documents	jq, sort -u	sorted @ -c
lines	everbloom	ours @ --unit line
lines	everbloom, unpacked	ours @.plain --unit line
lines	everbloom, as written	ours @ --unit line --normalise none
lines	python set	by_set @ lines
lines	jq, sort -u	sorted @ -r
ngrams	everbloom	ours @ --unit ngram:13
ngrams	everbloom, unpacked	ours @.plain --unit ngram:13
ngrams	everbloom, forgetting	ours @ --unit ngram:13 --on-full forget
ngrams	python set	by_set @ ngrams
R
[ -z "${DOLMA:-}" ] || printf '%s\n' "documents	dolma	dolma @ documents $documents" \
    "documents	dolma, unpacked	dolma @.plain documents $documents" "lines	dolma	dolma @ paragraphs $lines" >>"$work/rows"
[ -z "${DATATROVE:-}" ] || printf '%s\n' "ngrams	datatrove	trove @ $ngrams" >>"$work/rows"

cpu() { # COMMAND...: user and system seconds
    rm -rf "$work/out"; local TIMEFORMAT='%U %S'
    { time "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; } 2>&1 | tail -n 1 | awk '{ print $1 + $2 }'
}
for round in $(seq "$rounds"); do
    while IFS=$'\t' read -r unit name command; do
        start=$(cpu ${command/@/$work/small}) all=$(cpu ${command/@/$work/large})
        printf '%s\t%s\t%s\n' "$unit" "$name" "$(awk -v a="$all" -v s="$start" -v b="$((large - small))" 'BEGIN { print (a - s) / b * 1e9 }')" >>"$work/results"
    done < <(sort -k1,1 -t$'\t' "$work/rows" | grep -E "^(${units// /|})	")
done
[ "$rounds" = 0 ] || printf '%-10s %-24s %10s %8s %s\n' unit program 'CPU s/GB' ratio spread
[ "$rounds" = 0 ] || sort -k1,1 -k2,2 -k3,3g -t$'\t' "$work/results" | awk -F'\t' -v rounds="$rounds" '
    { k = $1 "\t" $2; n[k]++; v[k, n[k]] = $3; if (n[k] == 1) order[++keys] = k }
    END { for (i = 1; i <= keys; i++) { k = order[i]; m[k] = v[k, int((n[k] + 1) / 2)] }
          for (i = 1; i <= keys; i++) { split(order[i], p, "\t"); k = order[i]
              printf "%-10s %-24s %10.2f %8.1f %.2f-%.2f\n", p[1], p[2], m[k], m[k] / m[p[1] "\teverbloom"], v[k, 1], v[k, n[k]] } }'

echo; printf '%-20s %10s %10s %6s %s\n' unit '1 thread' '2 threads' ratio spread
wall() { local TIMEFORMAT=%R; { time "$@" >/dev/null 2>&1; } 2>&1; }
for unit in $units; do
    option=${unit%s}; option=${option/ngram/ngram:13}
    for from in large large.plain; do
        for round in 1 2 3 4 5; do
            echo "$(wall ours "$work/$from" --unit "$option" --threads 1) $(wall ours "$work/$from" --unit "$option" --threads 2)"
        done | awk -v u="$unit${from#large}" '{ a[NR] = $1; b[NR] = $2; r[NR] = $1 / $2 }
            function median(x,  i, j, t) { for (i = 2; i <= NR; i++) for (j = i; j > 1 && x[j] < x[j - 1]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t } return x[int((NR + 1) / 2)] }
            END { printf "%-20s %10.3f %10.3f %6.2f ", u, median(a), median(b), median(r); printf "%.2f-%.2f\n", r[1], r[NR] }'
    done
done
