# NUL bytes are bytes of a line; with -0 they end it.
. "$EXPECT"
everbloom dedup < <(printf 'a\0b\na\0c\na\0b\n\0\n')
status_is 0; out_is 'a\0b\na\0c\n\0\n'
everbloom dedup -0 < <(printf 'a\nb\0c\0a\nb\0\0\0')
out_is 'a\nb\0c\0\0'
everbloom dedup --null --mark < <(printf 'a\0a\0')
out_is '0\ta\0001\ta\0'
