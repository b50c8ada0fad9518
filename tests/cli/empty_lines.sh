# The empty line is a key.
. "$EXPECT"
everbloom dedup < <(printf '\n\na\n\n')
status_is 0; out_is '\na\n'
everbloom dedup < <(printf '\n')
out_is '\n'
everbloom dedup --mark < <(printf '\n\n')
out_is '0\t\n1\t\n'
