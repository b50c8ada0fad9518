# --stats for people and --json for machines, both on standard error; results stay on standard output.
. "$EXPECT"
everbloom dedup --stats --filter stable:memory=64K,fpr=0.001,seed=1 < <(printf 'a\nb\na\n')
status_is 0; out_is 'a\nb\n'
for line in 'lines                3' 'unique               2' 'duplicates           1' \
    'bytes                6 bytes' 'keys in its life     3' 'filter               stable:'; do
    err_has "$line"
done
for label in seconds 'bytes per second' fill 'false positive rate' 'false negative rate'; do
    grep -q "^$label  *[0-9]" err || fail "no $label: $(shown err)"
done

everbloom dedup --json --filter stable:memory=64K,fpr=0.001,seed=1 < <(printf 'a\nb\na\n')
status_is 0; out_is 'a\nb\n'
[ "$(wc -l <err)" = 1 ] || fail "not one line: $(shown err)"
[ "$(value lines) $(value unique) $(value duplicates) $(value bytes) $(value items)" = '3 2 1 6 3' ] ||
    fail "wrong numbers: $(shown err)"
for key in seconds bytes_per_second filter fill fpr fnr; do
    [ -n "$(value $key)" ] || fail "no $key: $(shown err)"
done
if command -v python3 >/dev/null; then python3 -m json.tool err >out || fail "not JSON: $(shown err)"; fi

# A filter that had to forget says so.
everbloom dedup --json --filter stable:memory=4K,fpr=0.01,seed=1 < <(seq 200000)
awk -v fnr="$(value fnr)" -v fpr="$(value fpr)" 'BEGIN { exit !(fnr > 0.5 && fpr > 0.005 && fpr < 0.02) }' ||
    fail "rates are off: $(shown err)"
# One that never forgets, too.
everbloom dedup --json --filter bloom:memory=1M,k=4 < <(seq 1000)
[ "$(value fnr)" = 0 ] || fail "fnr of bloom is $(value fnr)"
# add has them as well.
everbloom add --stats -m 64K -o s < <(seq 10)
status_is 0; err_has 'lines                10'
