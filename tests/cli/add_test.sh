# add makes and updates snapshots; test asks them.
. "$EXPECT"
everbloom add -o s --filter bloom:memory=64K,k=4 < <(printf 'a\nb\n')
status_is 0; no_output; silent
everbloom test s < <(printf 'b\na\n')
status_is 0; silent; out_is 'b\na\n'
everbloom test s < <(printf 'a\nx\nb\ny\n')
status_is 0; silent; out_is 'a\nb\n'
everbloom test --absent s < <(printf 'a\nx\nb\ny\n')
status_is 0; out_is 'x\ny\n'
everbloom test s --mark < <(printf 'a\nx\n')
status_is 0; out_is '1\ta\n0\tx\n'
everbloom test s </dev/null
status_is 1; no_output
printf 'a' >1
printf 'b\nq' >2
everbloom test s 1 2
status_is 0; out_is 'a\nb\n'
everbloom test s - 1 < <(echo b)
status_is 0; out_is 'b\na\n'
everbloom test -o found s 1 2
status_is 0; no_output; printf 'a\nb\n' >want; same found want

# Keys may be fields.
everbloom add -o f -m 64K -f 2 -d, < <(printf '1,a\n2,b\n')
everbloom test f -f 1 -d: < <(printf 'a:1\nc:2\n')
status_is 0; out_is 'a:1\n'
everbloom add -o z -m 64K -0 --csv -f 1 < <(printf '"x\ny",1\0')
everbloom test z -0 < <(printf 'x\ny\0z\0')
status_is 0; out_is 'x\ny\0'

# Asking changes nothing; adding with --state goes on; standard output is a file like others.
cp s before
everbloom test s < <(echo new)
same s before
everbloom add --state s < <(printf 'c\n')
status_is 0
everbloom test s < <(printf 'a\nb\nc\n')
status_is 0
everbloom add --state t --filter bloom:memory=64K,k=4,seed=1 < <(printf 'a\nb\n')
everbloom add --seed 1 --filter bloom:memory=64K,k=4 < <(printf 'a\nb\n')
status_is 0; mv out new; everbloom merge t; same out new
"$EVERBLOOM" add -m 64K < <(echo a) | "$EVERBLOOM" test - 1 >out 2>err
status=$?
status_is 0; out_is 'a\n'

# dedup's state is a snapshot as well.
everbloom dedup --state d -m 64K < <(printf 'a\nb\n')
everbloom test d < <(printf 'a\nc\n')
status_is 0; out_is 'a\n'

# Trouble.
everbloom test none < <(echo a)
status_is 2; err_is 'everbloom: none: No such file or directory\n'
everbloom test 1 < <(echo a)
status_is 2; err_has 'everbloom: 1: not a snapshot'
head -c 1000 s >cut
everbloom test cut < <(echo a)
status_is 2; no_output; err_has 'everbloom: cut: damaged snapshot'
everbloom add -o none/s < <(echo a)
status_is 2
