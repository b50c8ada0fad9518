# A state that holds another filter than the command line asks for is refused, both specs shown.
. "$EXPECT"
everbloom dedup --state s -m 1M --seed 7 < <(echo a)
cp s before
everbloom info --json s
found=$(value filter out)

differs() { # differs EXPECTED-PART ARGUMENT...
    local part=$1; shift
    everbloom dedup --state s "$@" < <(echo b)
    status_is 2; no_output; same s before
    head -n 1 err >first
    printf 'everbloom: s: holds a different filter: leave out -m and the other options that describe one, or give another file\n' >want
    same first want
    err_has "  in the file: $found"
    grep -q "^  asked for:   .*$part" err || fail "no $part: $(shown err)"
}
differs lru: -m 2M
differs bloom: --filter bloom:memory=1M,k=4
differs seed=8 --seed 8
differs seed=8 -m 1M --seed 8
differs seed=8 --filter lru:memory=1M,seed=8
differs lru: --filter lru:memory=1M,fpr=0.01
differs lru: --max-drop 0.01 -m 1M
everbloom dedup --state s -m 1M --seed 7 < <(printf 'a\nb\n')
status_is 0; out_is 'b\n'
