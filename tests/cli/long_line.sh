# Lines longer than any buffer, whole and in order, from a file and through a pipe.
. "$EXPECT"
slow
long() { head -c "$1" /dev/zero | tr '\0' "$2"; }
{ echo a; long 64M x; echo; echo b; long 64M x; echo; long 8M y; echo; echo a; long 3M z; } >in
{ echo a; long 64M x; echo; echo b; long 8M y; echo; long 3M z; echo; } >unique
everbloom dedup -m 1M in
status_is 0; silent; same out unique
everbloom dedup -m 1M < <(cat in)
status_is 0; same out unique
rm -f out unique

# The key may be anywhere in it.
{ long 5M x; echo ',k'; long 6M y; echo ',k'; } >in
{ long 5M x; echo ',k'; } >unique
everbloom dedup -m 1M -f 2 -d, in
same out unique
{ echo -n '"'; long 5M x; echo '","k"""'; echo -n '"'; long 6M y; echo '","k"""'; } >in
head -n 1 in >unique
everbloom dedup -m 1M --csv -f 2 in
same out unique

# Around the sizes of the reader's blocks.
for n in 1048574 1048575 1048576 1048577 2097151 2097152 2097153; do
    { long $n x; echo; long $n x; echo; echo c; } >in
    { long $n x; echo; echo c; } >unique
    everbloom dedup -m 1M in
    same out unique
done
