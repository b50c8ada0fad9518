# merge: the keys of all; equal specs only; kinds that can.
. "$EXPECT"
spec=bloom:memory=64K,k=4,seed=1
everbloom add -o a --filter $spec < <(printf 'a\nb\n')
everbloom add -o b --filter $spec < <(printf 'c\n')
everbloom add -o both --filter $spec < <(printf 'a\nb\nc\n')
seq 3000 >many; printf 'a\nb\nc\n' >>many
alike() { # alike FILE FILE - the same keys, and as many; how many were new to both parts nobody knows
    "$EVERBLOOM" test "$1" many >one; "$EVERBLOOM" test "$2" many >two; same one two
    for f in "$1" "$2"; do "$EVERBLOOM" info --json "$f" >"$f.info"; done
    [ "$(value items "$1.info") $(value cells_used "$1.info")" = "$(value items "$2.info") $(value cells_used "$2.info")" ] || fail "$1 and $2 differ"
}
everbloom merge -o m a b
status_is 0; no_output; silent
alike m both
everbloom merge a b
status_is 0; mv out piped; same piped m
everbloom merge -o a a b
status_is 0; alike a both
everbloom merge -o c b
status_is 0; same c b

everbloom add -o other --filter bloom:memory=64K,k=4,seed=2 < <(echo a)
cp m before
everbloom merge -o m a other
status_is 2; same m before
err_is 'everbloom: a and other have different seeds (1 and 2): make both with the same --seed or --family\n'
everbloom add -o st --filter stable:memory=64K,seed=1 < <(echo a)
everbloom merge -o m st st
status_is 2; same m before; err_has 'everbloom: st: '
head -c 1000 b >cut
everbloom merge -o m a cut
status_is 2; same m before; err_has 'everbloom: cut: damaged snapshot'
everbloom merge -o m a none
status_is 2; same m before; err_is 'everbloom: none: No such file or directory\n'

# Filters that were made for themselves can be merged, if they have the same options.
printf 'a\nb\n' >one; printf 'b\nc\n' >two
for name in one two; do
    everbloom add -m 64K -o $name.eb $name; status_is 0
    everbloom count -m 64K --save $name.counts $name; status_is 0
    everbloom add -m 64K --family blue -o $name.blue $name; status_is 0
    everbloom add -m 64K --seed random -o $name.random $name; status_is 0
done
everbloom merge -o all.eb one.eb two.eb; status_is 0; silent
everbloom test all.eb < <(printf '%s\n' a b c d); status_is 0; out_is 'a\nb\nc\n'
everbloom merge -o all.counts one.counts two.counts; status_is 0; silent
everbloom count --snapshot all.counts --key b; status_is 0
[ "$(cut -f 1 out)" = 2 ] || fail "b: $(shown out)"
everbloom merge -o all.blue one.blue two.blue; status_is 0; silent
everbloom merge -o none one.blue two.eb; status_is 2; missing none
err_has 'everbloom: one.blue and two.eb have different seeds ('; err_has 'and 0): make both with the same --seed or --family'
everbloom merge -o none one.random two.random; status_is 2; err_has 'have different seeds'
everbloom add -m 128K -o large two
everbloom merge -o none one.eb large; status_is 2; err_has 'everbloom: one.eb and large have different sizes ('
everbloom merge -o none one.eb two.counts; status_is 2
err_is 'everbloom: one.eb and two.counts are of different kinds (bloom and spectral): make both with the same --filter\n'
misused add '--seed and --family: give one of them' add --seed 1 --family x -o none
