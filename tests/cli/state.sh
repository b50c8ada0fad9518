# --state: made, continued, and the filter of the command line may be left out or repeated.
. "$EXPECT"
mkdir d
everbloom dedup --state d/s -m 1M < <(printf 'a\nb\n')
status_is 0; out_is 'a\nb\n'; silent
folder_holds d s
everbloom dedup --state d/s < <(printf 'b\nc\n')
status_is 0; out_is 'c\n'
everbloom dedup --state d/s -m 1M < <(printf 'c\nd\n')
out_is 'd\n'
everbloom info --json d/s
[ "$(value items out)" = 6 ] || fail "items: $(shown out)"

# The filter that is in the file may be written in any form that means the same.
spec=$(value filter out)
cp out info
everbloom dedup --state d/s --filter "$spec" < <(printf 'd\ne\n')
status_is 0; out_is 'e\n'
everbloom dedup --state d/s --filter lru:memory=1M,fpr=1.2e-6 < <(printf 'e\nf\n')
status_is 0; out_is 'f\n'
everbloom dedup --state d/s --seed "$(sed 's/.*seed=\([0-9]*\).*/\1/' <<<"$spec")" < <(printf 'f\ng\n')
status_is 0; out_is 'g\n'

# Same seed, same input: same file; and in two parts as in one.
printf '%s\n' {1..5000} >in
everbloom dedup --state d/1 --seed 5 -m 1M in
everbloom dedup --state d/2 --seed 5 -m 1M < <(head -n 1234 in)
everbloom dedup --state d/2 < <(tail -n +1235 in)
same d/1 d/2
everbloom dedup --state d/3 --filter lru:memory=1M,fpr=1.2e-6,seed=5 in
same d/1 d/3
# Without a seed two filters differ.
everbloom dedup --state d/4 -m 1M in
everbloom dedup --state d/5 -m 1M in
cmp -s d/4 d/5 && fail "the seed is not random"

# Lines that are printed elsewhere count as well.
everbloom dedup --state d/s -o d/lines < <(printf 'g\nh\n')
status_is 0; printf 'h\n' >want; same d/lines want
everbloom dedup --state d/s < <(printf 'h\n')
no_output

# A link to the state stays a link.
ln -s s d/link
everbloom dedup --state d/link < <(printf 'h\ni\n')
status_is 0; out_is 'i\n'
[ -L d/link ] || fail "the link is gone"
everbloom dedup --state d/s < <(printf 'i\n')
no_output
