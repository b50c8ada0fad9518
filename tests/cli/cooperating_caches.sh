# The example with two processes: one goes on adding, the other asks and never misses a key.
. "$EXPECT"
slow
example=$(dirname "$EXPECT")/../../examples/cooperating_caches.sh
"$example" >out 2>err
status=$?
status_is 0; silent
grep -qx 'B asked [1-9][0-9]* times while A went on, and found all pages' out || fail "$(shown out)"
out_has 'B knows from a stream: 2 of 3 pages'
out_has 'B knows from a new summary: 2 of 3 pages'
bytes=$(sed -n 's/B is up to date after \([0-9]*\) bytes.*/\1/p' out)
[ "$bytes" -lt 300 ] || fail "$(shown out)"

# A process that has the summary open keeps a whole view of it when the file is replaced.
mkfifo questions
everbloom add --filter bloom:memory=64K,k=7 --state s < <(seq 1000)
"$EVERBLOOM" test --mark s <questions >answers 2>err &
exec 3>questions
echo 1 >&3
until [ -s answers ]; do sleep 0.01; done
everbloom add --state s < <(seq 1001 2000)
seq 999 1002 >&3
exec 3>&-
wait
printf '1\t1\n1\t999\n1\t1000\n0\t1001\n0\t1002\n' >want
same answers want
everbloom test s < <(seq 2000)
status_is 0
