# join: sqlite3 is the judge.  Nothing is missing without --verify, nothing is wrong with it, at one site and at
# two; counts that do not fit into memory go to files; one sentence for what is bad.
. "$EXPECT"
slow
command -v sqlite3 >/dev/null || skip "no sqlite3"

relation() { # relation SEED LINES KEYS SKEW - lines of CSV: number, key (some in quotes), text
    awk -v x="$1" -v n="$2" -v keys="$3" -v skew="$4" 'BEGIN {
        print "id,key,text"
        for (i = 1; i <= n; i++) {
            x = (x * 16807) % 2147483647; k = int(keys * (x / 2147483647) ^ skew)
            printf k % 5 ? "%d,k%d,t\n" : "%d,\"k, \"\"%d\"\"\",t\n", i, k
        }
    }'
}
judge() { # judge CONDITION - the truth, as COUNT<TAB>KEY, sorted
    { printf '%s\n' '.mode csv' '.import r.csv R' '.import s.csv S' '.mode list' '.separator "\t"'
      echo "select count(*), R.key from R, S where R.key = S.key group by R.key ${1:+having count(*) $1};"; } |
        sqlite3 :memory: >unsorted
    LC_ALL=C sort -k 2 unsorted >truth
}
sorted() { LC_ALL=C sort -k 2 out >answers; }
# Every key of the truth is there, with a number that is no less.
complete() {
    LC_ALL=C join -t '	' -1 2 -2 2 -a 1 -e missing -o 0,1.1,2.1 truth answers >both
    awk -F '	' '$3 == "missing" || $3 < $2' both >wrong
    [ ! -s wrong ] || fail "$1: missing or too low: $(shown wrong)"
}

for seed in 1 2 3 4; do
    relation $seed $((100 + 300 * seed)) 200 1 >r.csv
    relation $((seed + 50)) 2000 $((100 + 100 * (seed % 4))) $((1 + seed % 3)) >s.csv
    # Of many sizes, so that estimates are right, or often wrong.
    cells=$((seed % 2 ? 200 * seed : 100000))
    filter=spectral:cells=$cells,k=$((1 + seed % 4)),store=u32
    for condition in '' '>40' '>=41' '=40' '=60' '<20' '<=19' '<1' '>1000000'; do
        judge "$condition"
        set -- join --csv --header -f 2 --seed $seed --filter $filter ${condition:+--having "$condition"}
        everbloom "$@" r.csv s.csv
        status_is 0; silent; sorted
        complete "seed $seed, having '$condition'"
        everbloom "$@" --verify r.csv s.csv
        status_is 0; silent; sorted; same answers truth
    done
    # Two sites.
    judge '>=30'
    everbloom join --ship --csv --header -f 2 --seed $seed -o s.eb s.csv; status_is 0; no_output; silent
    everbloom join --with s.eb --csv --header -f 2 --having '>= 30' r.csv; status_is 0; sorted
    complete "two sites, seed $seed"
    everbloom join --with s.eb --candidates --csv --header -f 2 --having '>=30' -o keys r.csv; status_is 0; no_output
    everbloom join --exact keys --csv --header -f 2 -o counts s.csv; status_is 0
    everbloom join --counts counts --csv --header -f 2 --having '>=30' r.csv; status_is 0; silent; sorted
    same answers truth
done

# Keys of R that do not fit into memory change nothing but the order; candidates must fit.
relation 7 6000 3000 1 >r.csv
relation 8 9000 3000 1 >s.csv
for condition in '>0' '>=20'; do
    judge "$condition"
    set -- join --estimate --csv --header -f 2 --seed 1 --having "$condition"
    everbloom "$@" r.csv s.csv; status_is 0; sorted; cp answers whole
    mkdir -p tmp
    TMPDIR=$PWD/tmp everbloom "$@" -m 64K r.csv s.csv; status_is 0; silent
    sorted; same answers whole
    [ -z "$(ls -A tmp)" ] || fail "left behind: $(ls -A tmp)"
done
shift 2; set -- join "$@"
everbloom "$@" --verify -m 64K r.csv s.csv; status_is 0; sorted; same answers truth
everbloom join --csv --header -f 2 --verify -m 64K r.csv s.csv; status_is 2; no_output
err_has 'candidates and more do not fit into 65536 bytes: give more -m, a --having that fewer keys meet, or --estimate'
TMPDIR=/nowhere everbloom "$@" -m 64K r.csv s.csv; status_is 2; no_output; err_is 'everbloom: a temporary file: No such file or directory\n'
misused join '-m must be 64K or more, not 8K' join -m 8K r.csv s.csv

# Different fields; a filter and a file from standard input; answers in a file.
cut -d , -f 1,2 s.csv | tail -n +2 | tr , '\t' | grep -v '"' >s.tsv
tail -n +2 r.csv | cut -d , -f 2 | grep -v '"' >r.txt
everbloom join -f 1 --s-field 2 --verify -o answers r.txt s.tsv; status_is 0; no_output
LC_ALL=C sort answers >one
everbloom join -f 1 --s-field 2 --seed 1 --distinct 500 r.txt - <s.tsv; status_is 0
LC_ALL=C sort -k 2 out >answers
LC_ALL=C sort -k 2 one >truth
complete 'S from standard input'
everbloom join --ship -f 2 s.tsv; status_is 0; cp out s.eb
everbloom join --with - r.txt <s.eb; status_is 0; sorted; complete 'the filter from standard input'
# What was sent.
everbloom join --with s.eb --stats --json r.txt; status_is 0
[ "$(value filter_bytes)" = "$(wc -c <s.eb)" ] || fail "$(shown err)"
[ "$(value candidates)" = "$(wc -l <out)" ] || fail "$(shown err)"
everbloom join --stats -f 1 --s-field 2 r.txt s.tsv; err_has 'classic Bloomjoin'; err_has 'the column of S'
everbloom join --ship -f 2 --stats --json -o s.eb s.tsv
[ "$(value column_bytes)" = "$(cut -f 2 s.tsv | wc -c)" ] || fail "$(shown err)"

# Sizes: within five standard errors of the truth, by both methods; certain bounds.
truth=$(awk '{ n += $1 } END { print n }' one)
for method in product sample; do
    everbloom join --size --method $method --json --seed 1 -f 1 --s-field 2 r.txt s.tsv; status_is 0
    awk -v j="$(value pairs out)" -v e="$(value error out)" -v u="$(value upper out)" -v t=$truth \
        'BEGIN { exit !(j > t - 5 * e && j < t + 5 * e && u >= t && e < t / 2) }' || fail "$method: $(shown out), not $truth"
done
everbloom join --size --seed 1 -f 1 --s-field 2 r.txt s.tsv; status_is 0; out_has 'standard error'
spec=spectral:update=plain,span=0,cells=3000,store=u32
everbloom count --filter $spec --seed 1 --save a.eb r.txt; everbloom count --filter $spec --seed 1 -f 2 --save b.eb s.tsv
everbloom join --size --snapshots a.eb b.eb; status_is 0; out_has product
everbloom join --size r.txt /dev/null; status_is 0

# One sentence, nothing on standard output.
refused() { # TEXT ARGUMENT...
    local text=$1; shift
    everbloom join "$@" </dev/null
    status_is 2; no_output
    err_is "everbloom: $text\n"
}
everbloom count --filter $spec --seed 2 -f 2 --save c.eb s.tsv
everbloom join --size --snapshots a.eb c.eb; status_is 2; no_output
err_has 'everbloom: a.eb and c.eb: filters differ: spectral:'; [ "$(wc -l <err)" = 1 ] || fail "$(shown err)"
everbloom count --filter spectral:update=plain,span=0,cells=3100,store=u32 --seed 1 -f 2 --save c.eb s.tsv
everbloom join --size --snapshots a.eb c.eb; status_is 2; no_output; err_has 'filters differ'
printf 'a\tb\nc\n' >short
refused 'short: line 2: there is no field 2 (fields end at a tab: see -d)' -f 2 --on-bad fail short s.tsv
refused 'r.txt: line 1: there is no field 3 (fields end at a tab: see -d)' -f 3 --s-field 2 --on-bad fail r.txt s.tsv
refused 'none: No such file or directory' r.txt none
everbloom add -o bloom.eb r.txt
refused 'bloom.eb: not a filter that counts keys and never too low, such as spectral' --with bloom.eb r.txt
refused 's.tsv: not a snapshot: its first bytes are those of another kind of file' --with s.tsv r.txt
printf '3\tk1\nx\n' >counts
refused 'counts: line 2: a line must be a count, a tab and a key' --counts counts r.txt
misused join '--having must be >, >=, =, < or <= and a whole number, not "> x"' join --having '> x' r.txt s.tsv
misused join 'join needs two files, R and S' join r.txt
misused join 'give one FILE with this option' join --with s.eb r.txt s.tsv
misused join '--s-field is for two files: use -f' join --ship --s-field 2 s.tsv
misused join '--s-field must be fields, each once, such as 3, 1,3, 2-4, 5-, -1 or name, not "0"' join --s-field 0 r.txt s.tsv
misused join 'standard input can be read only once: give --distinct or --filter' join r.txt -
misused join '--verify reads S twice, so S must be a file, not standard input or a pipe' join --verify r.txt -
misused join '--verify reads S twice, so S must be a file, not standard input or a pipe' join --verify --distinct 9 r.txt <(cat s.tsv)
mkfifo pipe
misused join 'pipe can be read only once: give --distinct or --filter' join r.txt pipe
misused join 'pipe can be read only once: give --distinct or --filter' join --size r.txt pipe
misused join 'only one of R and S can come from standard input' join - -
misused join '--candidates needs --with' join --candidates r.txt s.tsv
misused join '--method must be product or sample, not "x"' join --size --method x r.txt s.tsv
