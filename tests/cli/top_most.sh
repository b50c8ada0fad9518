# top -n: the keys that came most often, against sort and uniq.
. "$EXPECT"
slow
awk 'BEGIN { x = 7; for (i = 0; i < 60000; i++) { x = (x * 16807) % 2147483647; r = x / 2147483647
    printf "k%d %d\n", 9000 * r * r * r * r, x % 5 } }' >in
cut -d ' ' -f 1 in | sort | uniq -c | awk '{ print $1 "\t" $2 }' | sort -k 1,1rn -k 2,2 >all
first() { head -n "$1" all >want; }
set -- top -q -d ' ' -f 1 --seed 1

# With room to spare, whatever N is; ties are in the order of keys.
for n in 1 3 20 500 4000 1000000; do
    everbloom "$@" --top $n in; status_is 0; silent; first $n; same out want
    everbloom "$@" --top $n <in; status_is 0; same out want
done
everbloom "$@" --top 3 --names --json in; status_is 2
everbloom "$@" --top 2 --names in; { printf 'count\tkey\n'; first 2; cat want; } >header; same out header
everbloom "$@" --top 1 --json in; out_has "{\"key\":\"k0\",\"count\":$(head -n 1 all | cut -f 1),\"lower\":"
everbloom top --top 5 </dev/null; status_is 0; no_output; silent

# In little memory no key of the right ones is missing, and with --verify they are right.
for m in 20K 24K 64K; do
    for n in 1 10 60; do
        first $n
        everbloom "$@" -m $m --verify --top $n in; status_is 0; same out want
        everbloom "$@" -m $m --top $n in; status_is 0
        [ "$(wc -l <out)" -eq $n ] || fail "-m $m --top $n: $(wc -l <out) keys"
        last=$(tail -n 1 out | cut -f 1)
        awk -v last="$last" '$1 > last' all | cut -f 2 | sort >must
        cut -f 2 out | sort | comm -13 - must >lost
        [ ! -s lost ] || fail "-m $m --top $n: $(shown lost) are not there"
    done
done

# A list that finds no room: files are read again; of a pipe, what is known is printed, and it is said
# what may be missing.
for how in in '--verify in'; do
    everbloom "$@" -m 2K --top 60 $how
    status_is 0; first 60; same out want
done
everbloom "$@" -m 2K --top 60 <in
status_is 1; err_is "everbloom: keys that occur up to $(sed 's/.*up to \([0-9]*\).*/\1/' err) times may be missing: give more -m, or --rescan FILE\n"
n=$(wc -l <out); [ "$n" -gt 10 ] && [ "$n" -lt 60 ] || fail "$n keys"
# All keys fit, though there are fewer than are asked for.
everbloom "$@" --top 1000000 --verify in; status_is 0; same out all
# Weights, and a stream in parts.
awk '{ n[$1] += $2 } END { for (k in n) if (n[k]) print n[k] "\t" k }' in | sort -k 1,1rn -k 2,2 | head -n 7 >want
everbloom "$@" --weight-field 2 --top 7 in; status_is 0; same out want
head -n 30000 in >one; tail -n +30001 in >two
everbloom "$@" --state s --top 9 one; status_is 0
everbloom "$@" --state s --top 9 two; status_is 0; first 9; same out want

misused top '--alert prints keys as they come: leave out --at-least and -n' top --top 2 --alert 3
misused top '--top must be a whole number from 1 to 999999999, not "0"' top --top 0 in
