# -f and -d: the key is a field; the line is printed whole.
. "$EXPECT"
everbloom dedup -f 2 < <(printf '1\tx\n2\ty\n3\tx\n')
status_is 0; out_is '1\tx\n2\ty\n'
everbloom dedup -f1 -d: < <(printf 'a:1\nb:1\na:2\n')
out_is 'a:1\nb:1\n'
everbloom dedup --field=3 --delimiter=' ' < <(printf 'a b c\nd e c f\ng h i\n')
out_is 'a b c\ng h i\n'
# If a line lacks it, the delimiter may be another one.
everbloom dedup -f 2 < <(printf 'a b\nc d\n')
status_is 0; out_is 'a b\nc d\n'; err_is 'everbloom: 2 of 2 lines passed through unchecked; the first is standard input: line 1: there is no field 2 (fields end at a tab: see -d)\n'
everbloom count -d , -f 2,1 --key x < <(printf 'x\n'); err_is 'everbloom: 1 of 1 lines skipped; the first is standard input: line 1: there is no field 2 (fields end at a comma: see -d)\n'
everbloom add -d ' ' -f 2-4 -m 4K -o s < <(printf 'x\nx y z\n'); err_is 'everbloom: 2 of 2 lines skipped; the first is standard input: line 1: there is no field 2 (fields end at a space: see -d)\n'
everbloom weigh -q -f 3 -d '|' -m 4K < <(printf 'x\n'); err_has 'there is no field 3 (fields end at |: see -d)'
everbloom test s -f 3 -d $'\001' < <(printf 'x\n'); err_has 'there is no field 3 (fields end at byte 1: see -d)'
everbloom dedup -f 2 </dev/null; silent
# Of an endless stream that is told on the way, once.
mkfifo pipe
"$EVERBLOOM" count -f 2 --key x <pipe >out 2>err &
exec 3>pipe
seq 1500 >&3
until [ -s err ]; do kill -0 $! || fail "it died"; done
seq 500 >&3; exec 3>&-; wait $!
err_is 'everbloom: no line so far could be used; the first is standard input: line 1: there is no field 2 (fields end at a tab: see -d)\n'
# An empty field is a key, too.
everbloom dedup -f 2 -d, < <(printf 'a,,1\nb,,2\nc,3\n')
out_is 'a,,1\nc,3\n'
# Bytes that are awkward to type.
everbloom dedup -f 1 -d '\t' < <(printf 'a\t1\na\t2\n')
out_is 'a\t1\n'
everbloom dedup -f 1 -d '\\' < <(printf 'a\\\\1\na\\\\2\n')
out_is 'a\\\\1\n'
everbloom dedup -f 1 -d '\' < <(printf 'a\\\\1\na\\\\2\n')
out_is 'a\\\\1\n'
everbloom dedup -f 1 -d '\0' < <(printf 'a\0001\na\0002\n')
out_is 'a\0001\n'
everbloom dedup -0 -f 2 -d $'\n' < <(printf 'a\nx\0b\nx\0')
out_is 'a\nx\0'
# Quotes mean nothing without --csv.
everbloom dedup -f 2 -d, < <(printf '"a,b",1\n"c,b",2\n')
out_is '"a,b",1\n'
