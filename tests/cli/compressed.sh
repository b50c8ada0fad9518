# Compressed input: known by its first bytes, from files and pipes; damage is an error that names the byte.
. "$EXPECT"
slow
formats=$("$EVERBLOOM" --version | sed -n 's/^reads compressed files: //p')
[ "$formats" = none ] && skip "built without compression"
awk 'BEGIN { for (i = 0; i < 200000; i++) print i * 7919 % 100003, "padding" i % 10 }' >plain
everbloom dedup --seed 1 plain; cp out want.lines
for format in $formats; do
    tool=$format
    command -v $tool >/dev/null || continue
    $tool -c <plain >packed
    everbloom dedup --seed 1 packed; status_is 0; silent; same out want.lines
    everbloom dedup --seed 1 <packed; status_is 0; same out want.lines
    everbloom dedup --seed 1 < <(dd if=packed bs=1 count=11 status=none; sleep 0.1; tail -c +12 packed)
    status_is 0; same out want.lines
    everbloom dedup --seed 1 --json -z $format packed; same out want.lines
    [ "$(value bytes)" = "$(wc -c <plain)" ] || fail "$format: $(shown err)"
    # Several in one file, and beside plain ones; read twice.
    { $tool -c <plain; $tool -c <<<end; } >two
    everbloom dedup --seed 1 two; { cat want.lines; echo end; } | cmp -s - out || fail "$format: two in one file"
    everbloom top -d ' ' -f 2 --at-least 1 --verify packed plain; [ "$(wc -l <out)" = 10 ] || fail "$(shown out)"
    $tool -c </dev/null >none; everbloom dedup none; status_is 0; no_output; silent
    # Cut off, and damaged: what was read before is there; the message names the byte.
    size=$(wc -c <packed)
    for cut in 12 $((size / 2)) $((size - 1)); do
        head -c $cut packed >short; everbloom dedup --seed 1 short; status_is 2
        err_is "everbloom: short: the $format data ends too early, at byte $cut\n"
        head -c "$(wc -c <out)" want.lines | cmp -s - out || fail "$format: other lines"
    done
    { head -c $((size / 2)) packed; printf 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'; tail -c +$((size / 2 + 41)) packed; } >bad
    everbloom dedup --seed 1 bad; status_is 2; grep -q "^everbloom: bad: the $format data is damaged at byte [0-9]*$" err || fail "$format: $(shown err)"
    everbloom count --key a bad; status_is 2; no_output
done
# Lengths about those of the buffers: an unpacker may hold its last bytes back when there is no more input.
for size in $(seq 262138 262150); do
    seq 100000 | head -c $size >plain; gzip -c <plain >packed
    everbloom dedup --seed 1 plain; cp out want.lines; everbloom dedup --seed 1 packed; status_is 0; same out want.lines
done
# Text that begins like a compressed file is text, and so is what -z none says.
printf 'BZh\nBZh9 is no bzip2\nBZh\n' >text; everbloom dedup text; status_is 0; out_is 'BZh\nBZh9 is no bzip2\n'
printf 'BZ' | "$EVERBLOOM" dedup >out; out_is 'BZ\n'
printf '\037\213\010\n' >text; everbloom dedup -z none text; status_is 0; same out text
everbloom dedup text; status_is 2; err_has 'text: the gzip data'
# What -z names wrongly, and a snapshot in the place of lines.
for format in $formats; do
    everbloom dedup -z $format want.lines; status_is 2; no_output; err_is "everbloom: want.lines: this is not $format data: leave out -z\n"
done
everbloom add -o filter.eb -m 1K want.lines; status_is 0
message="filter.eb: this is a snapshot of a filter, not lines: 'everbloom info' describes it, and -z none reads it as lines"
for command in dedup top 'count --key a' distinct; do
    everbloom $command filter.eb; status_is 2; no_output; err_is "everbloom: $message\n"
done
everbloom dedup -z none filter.eb; status_is 0
misused dedup '-z must be auto, none, gzip, zstd, xz, bzip2 or lz4, not "zip"' dedup -z zip
