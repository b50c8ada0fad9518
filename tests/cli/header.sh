# --header: a line with the names of the columns is no key.  dedup and test print it once.
. "$EXPECT"
printf 'time,page\n10,/a\n11,/b\n12,/a\n' >one
printf 'time,page\n13,/c\n14,/b' >two # the last line lacks its end
set -- --csv --header -f 2

everbloom dedup "$@" one two
status_is 0; silent; out_is 'time,page\n10,/a\n11,/b\n13,/c\n'
everbloom dedup "$@" --repeated one two
out_is 'time,page\n12,/a\n14,/b\n'
everbloom dedup "$@" --mark one two
out_is 'seen,time,page\n0,10,/a\n0,11,/b\n1,12,/a\n0,13,/c\n1,14,/b\n'
everbloom dedup "$@" --window 10m --time-field 1 --json one two # "time" is no time
status_is 0; out_is 'time,page\n10,/a\n11,/b\n13,/c\n'
[ "$(value lines)" = 5 ] || fail "the names are counted as a line: $(shown err)"
everbloom dedup "$@" < <(printf 'time,page')
status_is 0; out_is 'time,page\n'
everbloom dedup "$@" </dev/null
status_is 0; no_output

everbloom add "$@" -m 4K -o pages one
status_is 0
everbloom test "$@" pages one two
status_is 0; out_is 'time,page\n10,/a\n11,/b\n12,/a\n14,/b\n'
everbloom test "$@" --mark pages two
out_is 'seen,time,page\n0,13,/c\n1,14,/b\n'
everbloom test --csv -f 2 --absent pages two # it never became a key
status_is 0; out_is 'time,page\n13,/c\n'

everbloom top "$@" --half-life 10m --time-field 1 -m 1M --seed 1 one two
status_is 0; silent
cut -f 3 out | sort | tr '\n' ' ' >keys; printf '/a /b /c ' >want; same keys want
