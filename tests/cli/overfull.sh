# A Bloom filter beyond its plan: a warning as soon as it is, once, and in --stats and info.
. "$EXPECT"
# 1000 keys are the plan: about 14400 bits, 10 a key.
spec=bloom:cells=14430,k=10,seed=1
everbloom dedup --filter $spec < <(seq 950)
status_is 0; silent; [ "$(wc -l <out)" -ge 949 ] || fail "too few lines"
everbloom dedup --filter $spec < <(seq 20000)
status_is 0
err_has 'everbloom: the filter is beyond its plan: it was made for about 1000 distinct keys with a false-positive rate of 0.000977; now the rate is 0.0'
err_has 'give more -m, or --on-full grow'
[ "$(wc -l <err)" -eq 1 ] || fail "not one message: $(shown err)"
# While it runs, before anything is lost: the warning comes with the line that goes beyond.
mkfifo in
"$EVERBLOOM" dedup --filter $spec <in >out 2>err &
pid=$!
exec 3>in
seq 3000 >&3
for ((i = 0; i < 500; i++)); do [ -s err ] && break; sleep 0.02; done
[ -s err ] || fail 'no warning while it runs'
exec 3>&-
wait $pid
# States, snapshots, reports.
everbloom add --filter $spec --state s --json < <(seq 900)
status_is 0; [ "$(value beyond_plan) $(value planned_keys)" = 'no 1000' ] || fail "$(shown err)"
everbloom add --state s --json < <(seq 901 2000)
status_is 0; grep -q '"beyond_plan":"yes"' err || fail "$(shown err)"
err_has 'the filter is beyond its plan'
everbloom info s; status_is 0; silent; grep -q '^beyond its plan  *yes' out || fail "$(shown out)"
everbloom test s < <(seq 10); status_is 0; err_has 'the filter is beyond its plan'
everbloom dedup --state s </dev/null; status_is 0; err_has 'the filter is beyond its plan'
# Filters made for a number of keys are within their plan with that number, whatever k is.
for layout in parts line; do
    for fpr in 0.5 0.3 0.2 0.1 0.03 0.01 0.001 1e-6; do
        everbloom dedup --filter bloom:distinct=20000,fpr=$fpr,seed=1,layout=$layout < <(seq 20000)
        status_is 0; silent
        everbloom dedup --filter bloom:distinct=20000,fpr=$fpr,seed=1,layout=$layout < <(seq 80000)
        status_is 0; err_has 'the filter is beyond its plan'
    done
done
# With one cache line a key what it was made for is what distinct= and fpr= said, not half of the bits.
everbloom add --filter bloom:distinct=20000,fpr=1e-6,layout=line -o line < <(seq 20000)
everbloom info --json line
awk -v keys="$(value planned_keys out)" -v rate="$(value planned_fpr out)" 'BEGIN { exit !(keys > 18000 && keys < 22000 && rate > 5e-7 && rate < 2e-6) }' ||
    fail "made for $(value planned_keys out) keys at $(value planned_fpr out)"
everbloom dedup --filter bloom:distinct=20000,fpr=1e-6,layout=line < <(seq 26000)
status_is 0; err_has 'the filter is beyond its plan'
# Kinds that forget have no plan to go beyond.
everbloom dedup -m 4K < <(seq 20000); status_is 0; silent
# --on-full: grow keeps the rate, also from state to state; fail saves what there is and stops.
spec=bloom:distinct=1000,fpr=0.001
everbloom add --filter $spec --on-full grow --state g < <(seq 5000); status_is 0; silent
everbloom add --filter $spec --on-full grow --state g < <(seq 5001 20000); status_is 0; silent
everbloom add --state g < <(seq 20001 20100); status_is 0; silent
everbloom test g < <(seq 20100); [ "$(wc -l <out)" -eq 20100 ] || fail "keys are lost"
everbloom test g < <(seq 1000000 1020000); [ "$(wc -l <out)" -le 60 ] || fail "$(wc -l <out) of 20000 are false positives"
misused dedup '--on-full grow needs a filter that can grow, such as --filter bloom' dedup --on-full grow
everbloom dedup --filter $spec --on-full fail --state f < <(seq 5000)
status_is 2; err_has 'the filter is beyond its plan'; err_has 'everbloom: stopped after line '
printed=$(wc -l <out); [ "$printed" -lt 3000 ] || fail "$printed lines printed"
last=$(tail -n 1 out)
everbloom test f < <(seq "$last"); [ "$(wc -l <out)" -eq "$last" ] || fail 'the state lacks keys that were printed'
everbloom dedup --filter $spec --on-full warn < <(seq 5000); status_is 0; err_has 'the filter is beyond its plan'
