# count --decay: what a key counts by the age of its lines, in time and in lines.
. "$EXPECT"
slow

# One line a second for 1000 s.
for i in $(seq 1 1000); do printf '%s\ta\n' "$i"; done >in
asked() { # asked LOW HIGH ARGUMENT... - the count of a must be between
    local low=$1 high=$2; shift 2
    everbloom count -m 1M "$@" --seed 1 --key a in
    status_is 0; silent
    awk -F'\t' -v low="$low" -v high="$high" '{ exit !($1 >= low && $1 <= high) }' out ||
        fail "$*: not $low..$high: $(shown out)"
}
time='--time-field 1 -f 2'
# The last 100 s, and at most an epoch of 3.704 s before them.
asked 100 104 $time --window 100s
asked 100 104 $time --decay window --window 100s
asked 100 101 $time --window 100s --epochs 100
asked 100 200 $time --window 100s --epochs 1
# In lines, to the line if there are epochs for each.
asked 100 103 -f 2 --window 100
asked 20 20 -f 2 --window 20
asked 1 1 -f 2 --window 1
# Straight lines: half of the window; 1 to 0.5 and 0.5 to 0 is the same line.
asked 50 55 $time --decay chordal --window 100s
cp out before
asked 50 55 $time --decay polygonal --window 100s --heights 10:5
same out before
asked 40 46 $time --decay polygonal --window 100s
# The sum of 1/x for x = 1..1000 is 7.485; joined epochs count up to a quarter more.
asked 7.48 9.36 $time --decay poly --window 1000s --epochs 1000
asked 1.64 2.6 $time --decay poly --power 2 --window 1000s --epochs 1000
# (1 + x) 2^(-x / 3) has its largest value 2.001 at x = 3 and the sum 1 / (1 - 2^(-1/3))^2 = 23.5.
asked 10.6 11.8 $time --decay polyexp --window 200s --epochs 200 --half-life 3s
# Exponential is what there was before --decay: the same bytes.
asked 143.9 146 $time --half-life 100s
cp out before
asked 143.9 146 $time --decay exponential --half-life 100s
same out before
asked 590 600 $time --decay exponential

# What is too old is gone; the state knows its window.
printf '2000\tb\n' >later
everbloom count --window 100s $time --state s --key a in
everbloom count --window 100s $time --state s --key a --key b later
[ "$(cut -f 1,7 out | tr '\n\t' ';=')" = '0=a;1=b;' ] || fail "later: $(shown out)"
everbloom count --window 50s $time --state s later
status_is 2; err_has 'holds a different filter'
everbloom count --window 10 --names --key b later
[ "$(head -n 1 out)" = "$(printf 'count\tlower\tupper\tconfidence\thint\tkey')" ] || fail "a rate of lines: $(shown out)"
everbloom count --snapshot s --key b
[ "$(cut -f 1,6 out)" = "$(printf '1\tb')" ] || fail "snapshot: $(shown out)"

lengths='a number of lines such as 1e6 or 10M, or a time from 1ms to 366d, such as 500ms, 90s, 10m, 2h or 1d'
for bad in 10q 400d 0 1.5 -1 x '' 1e19 0s; do
    misused count "--window must be $lengths, not \"$bad\"" count --key a --window="$bad"
done
misused count '--decay must be exponential, window, chordal, polygonal, poly or polyexp, not "linear"' count --decay linear
misused count '--decay chordal needs --window' count --decay chordal --key a
misused count '--half-life and --window: give one of them, or both with --decay polyexp' count --half-life 1m --window 1h --key a
misused count '--half-life is for --decay exponential or polyexp, not window' count --decay window --half-life 1m --window 1h --key a
misused count '--window is for --decay window, chordal, polygonal, poly or polyexp, not exponential' \
    count --decay exponential --window 1h --key a
misused count '--heights is for --decay polygonal, not chordal' count --decay chordal --window 1h --heights 3:2 --key a
misused count '--heights must be heights from 1 to 255, such as 100:50:20, not "3,k=2"' \
    count --decay polygonal --window 1h --heights 3,k=2 --key a
misused count '--power is for --decay poly or polyexp, not window' count --power 2 --window 1h --key a
misused count '--epochs must be 1..255 for --decay window, not 256' count --epochs 256 --window 1h --key a
misused count '--half-life must be from 5.41854s to 24940.8s with epochs of 36s, not 1s' \
    count --decay polyexp --window 1h --epochs 100 --half-life 1s --key a
misused count '--half-life is a time: give --window as a time as well' \
    count --decay polyexp --window 1000 --half-life 1m --key a
misused count '--time-field needs a --window in time' count --window 10 --time-field 1 --key a
misused count '--window chooses a filter: not with --filter' count --window 10 --filter decay --key a
misused count '--decay chooses a filter: not with --removable' count --decay window --window 10 --removable --key a
misused count '--snapshot only queries a filter: leave out the options that make or save one' count --snapshot s --window 10 --key a
