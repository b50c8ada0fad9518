# Files are one stream; - is standard input; a bad name is known before anything is printed.
. "$EXPECT"
printf 'a\nb\n' >1
printf 'b\nc\n' >2
everbloom dedup 1 2
status_is 0; out_is 'a\nb\nc\n'
everbloom dedup 2 - 1 < <(printf 'x\nb\n')
out_is 'b\nc\nx\na\n'
everbloom dedup - < <(printf 'x\nx\n')
out_is 'x\n'
everbloom dedup 1 none 2
status_is 2; no_output; err_is 'everbloom: none: No such file or directory\n'
mkdir dir
everbloom dedup 1 dir
status_is 2; no_output; err_is 'everbloom: dir: Is a directory\n'
printf 'q\nq\n' >-odd
everbloom dedup -- -odd
status_is 0; out_is 'q\n'
everbloom dedup ./-odd
out_is 'q\n'
