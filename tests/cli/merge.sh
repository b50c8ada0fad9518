# merge: the keys of all; equal specs only; kinds that can.
. "$EXPECT"
spec=bloom:memory=64K,k=4,seed=1
everbloom add -o a --filter $spec < <(printf 'a\nb\n')
everbloom add -o b --filter $spec < <(printf 'c\n')
everbloom add -o both --filter $spec < <(printf 'a\nb\nc\n')
everbloom merge -o m a b
status_is 0; no_output; silent
same m both
everbloom merge a b
status_is 0; same out both
everbloom merge -o a a b
status_is 0; same a both
everbloom merge -o c b
status_is 0; same c b

everbloom add -o other --filter bloom:memory=64K,k=4,seed=2 < <(echo a)
cp m before
everbloom merge -o m a other
status_is 2; same m before
err_has 'everbloom: filters with different specs cannot be merged'
err_has '  a: bloom:'
err_has '  other: bloom:'
everbloom add -o st --filter stable:memory=64K,seed=1 < <(echo a)
everbloom merge -o m st st
status_is 2; same m before; err_has 'everbloom: st: '
head -c 1000 b >cut
everbloom merge -o m a cut
status_is 2; same m before; err_has 'everbloom: cut: damaged snapshot'
everbloom merge -o m a none
status_is 2; same m before; err_is 'everbloom: none: No such file or directory\n'
