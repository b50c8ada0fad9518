# --mark and --repeated.
. "$EXPECT"
everbloom dedup --mark < <(printf 'a\nb\na\n')
status_is 0; out_is '0\ta\n0\tb\n1\ta\n'
everbloom dedup --mark -d ' ' < <(printf 'a\na')
out_is '0 a\n1 a\n'
everbloom dedup --mark --csv < <(printf 'a\na\n')
out_is '0,a\n1,a\n'
everbloom dedup --repeated < <(printf 'a\nb\na\na\n')
status_is 0; out_is 'a\na\n'
