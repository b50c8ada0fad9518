# A filter that is not meant to be merged gets a seed that nobody can guess; a state keeps its own.
. "$EXPECT"
seed_of() { sed -n 's/.*[,:]seed=\([0-9]*\).*/\1/p' "$1"; }
for kind in "--filter lru:memory=64K" "--filter choosy:memory=64K" "--window 1000" "-m 64K"; do
    everbloom dedup $kind --json < <(echo a); status_is 0; first=$(seed_of err)
    everbloom dedup $kind --json < <(echo a); status_is 0; second=$(seed_of err)
    [ -n "$first" ] && [ "$first" != "$second" ] || fail "$kind: the seeds are \"$first\" and \"$second\""
done
everbloom dedup --state s -m 64K --json < <(echo a); first=$(seed_of err)
everbloom dedup --state s --json < <(echo b); [ "$(seed_of err)" = "$first" ] || fail "the state had the seed $first: $(shown err)"
# A spec may ask for one, in kinds that merge, too; and a state keeps its own.
for spec in bloom:memory=64K,seed=random lru:seed=random,memory=64K; do
    everbloom dedup --filter $spec --json < <(echo a); status_is 0; first=$(seed_of err)
    everbloom dedup --filter $spec --json < <(echo a); status_is 0; second=$(seed_of err)
    [ -n "$first" ] && [ "$first" != "$second" ] || fail "$spec: the seeds are \"$first\" and \"$second\""
done
everbloom dedup --state t --filter bloom:memory=64K,seed=random --json < <(echo a); first=$(seed_of err)
everbloom dedup --state t --filter bloom:memory=64K,seed=random --json < <(echo b); status_is 0
[ "$(seed_of err)" = "$first" ] || fail "the state had the seed $first: $(shown err)"
