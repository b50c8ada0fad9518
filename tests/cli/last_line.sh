# A last line without a newline is a line like any other, and gets one.
. "$EXPECT"
everbloom dedup < <(printf 'a\nb\na')
status_is 0; out_is 'a\nb\n'
everbloom dedup < <(printf 'a\nb')
out_is 'a\nb\n'
everbloom dedup < <(printf 'b\na\nb\na')
out_is 'b\na\n'
everbloom dedup < <(printf 'x')
out_is 'x\n'
# It must not run into the first line of the next file.
printf 'a\nb' >1
printf 'c\nb' >2
everbloom dedup 1 2
out_is 'a\nb\nc\n'
everbloom dedup -0 < <(printf 'a\0b\0a')
out_is 'a\0b\0'
