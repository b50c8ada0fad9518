# Temporary files of runs that were killed are removed by the next run for the same file, but not those in use.
. "$EXPECT"
slow
mkdir d
everbloom dedup --state d/s -m 64K < <(seq 10)
status_is 0
echo part >d/.s.0123456789abcdef
echo part >d/.s.fedcba9876543210
echo part >d/.s.0123456789abcdeg # not one of ours
echo part >d/.t.0123456789abcdef # another file's
exec 5<d/.s.fedcba9876543210
flock -x 5 || skip 'no flock'
everbloom dedup --state d/s < <(seq 10)
status_is 0; no_output
folder_holds d s .s.fedcba9876543210 .s.0123456789abcdeg .t.0123456789abcdef
exec 5<&-
echo part >d/.s.0123456789abcdef
everbloom add --filter bloom:memory=1K,k=2 -o d/s < <(seq 3)
status_is 0
folder_holds d s .s.0123456789abcdeg .t.0123456789abcdef

# kill -9 at any moment, 50 times: after the next run there is nothing but the state.
rm -rf d; mkdir d
for ((i = 0; i < 50; i++)); do
    "$EVERBLOOM" dedup --state d/s -m 1M --save-every 1ms >/dev/null 2>err < <(exec seq "$i" 100000000 2>/dev/null) &
    pid=$!
    sleep 0.0$((i % 4 + 1))
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
everbloom dedup --state d/s -m 1M </dev/null
status_is 0
folder_holds d s
