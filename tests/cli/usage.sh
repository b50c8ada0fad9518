# Wrong usage: one message, one line of hint, status 2, nothing on standard output.
. "$EXPECT"
misused '' 'no command given'
misused '' 'there is no command dedpu; did you mean dedup?' dedpu
misused '' 'there is no command frobnicate' frobnicate
misused '' 'there is no option --frobnicate; options of a command stand behind it' --frobnicate
misused '' 'there is no option -f; options of a command stand behind it' -f 1 dedup
misused '' 'there is no command kindz; did you mean kinds?' help kindz
misused '' '--generate makes man PAGE, pages, bash, zsh, fish or spec WORD' --generate
misused '' 'there is no man page nothing; --generate pages lists them' --generate man nothing

misused dedup 'dedup has no option --memroy; did you mean --memory?' dedup --memroy 1M
misused dedup 'dedup has no option --mem; did you mean --memory?' dedup --mem=1M
misused sum 'sum has no option --value; did you mean --weight-field?' sum --value 2 in
misused range 'range has no option --value; did you mean --values?' range --value 2 in
misused dedup 'dedup has no option --separator; did you mean --delimiter?' dedup --separator , in
misused dedup 'dedup has no option --value' dedup --value 2 in
misused dedup 'dedup has no option --frobnicate' dedup --frobnicate
misused dedup 'dedup has no option -x' dedup -x
misused dedup 'dedup has no option -x' dedup -0x
misused dedup '--csv takes no value' dedup --csv=yes
misused dedup '-m needs a value: SIZE' dedup -m
misused dedup '--memory needs a value: SIZE' dedup --memory
misused dedup '--state needs a value: FILE' dedup --state
misused dedup '--state must be a name, not ""' dedup --state=
misused dedup '-m must be one number, not "1M,k=3"' dedup -m 1M,k=3
misused dedup '--seed must be one number, not ""' dedup --seed=
misused dedup '-f must be fields, each once, such as 3, 1,3, 2-4, 5-, -1 or name, not "0"' dedup -f 0
misused dedup '--field must be fields, each once, such as 3, 1,3, 2-4, 5-, -1 or name, not "-0"' dedup --field -0
misused dedup '2x is not the number of a field, and names of columns need --csv, --tsv or --header' dedup -f2x
misused dedup '--importance-field must be one field, such as 3, -1 or name, not "2-3"' dedup --importance-field 2-3
misused dedup '-d must be one byte (or \t, \\, \0) or blank, not "ab"' dedup -f 1 -d ab
misused dedup '-d must be one byte (or \t, \\, \0) or blank, not ""' dedup -f 1 -d ''
misused dedup '-d must be one byte (or \t, \\, \0) or blank, not "\n"' dedup -f 1 -d '\n'
misused dedup '-d has no effect without -f, --csv or --mark' dedup -d,
misused dedup '-d must not be what ends a line' dedup -f 1 -d $'\n'
misused dedup '-d must not be what ends a line' dedup -0 -f 1 -d '\0'
misused dedup '-d must not be the quote of --csv' dedup --csv -f 1 -d '"'
for time in 0 0.1ms 400d 5x -1s '' ms 1e400 nan 0x10; do
    misused dedup "--save-every must be a time from 1ms to 366d, such as 500ms, 90s, 10m, 2h or 1d, not \"$time\"" dedup --save-every="$time"
done
misused dedup '--mark and --repeated: give one of them' dedup --mark --repeated
misused dedup '-o and --state must be two files' dedup -o x --state x
misused dedup '-m and --filter both say how much memory: give one of them' dedup -m 1M --filter stable:memory=2M
misused dedup '--seed and --filter both give a seed: give one of them' dedup --seed 1 --filter stable:seed=2
misused add '-o and --state: give one of them' add -o x --state y
misused test 'test needs SNAPSHOT [FILE]...' test
misused test '--mark and --absent: give one of them' test --mark --absent x
misused test 'the snapshot and the lines cannot both come from standard input' test -
misused info 'info needs SNAPSHOT...' info
misused check 'check needs SNAPSHOT...' check
misused merge 'merge needs SNAPSHOT...' merge -o x
misused predict 'predict needs SPEC...' predict
misused kinds 'kinds: one operand too many: b' kinds a b
misused predict '--items must be a number from 0 to 1e18, such as 10M, not "many"' predict stable --items many
misused predict '--zipf must be a number, 0 or more, not "-1"' predict stable --zipf -1
misused kinds 'kinds: one operand too many: b' kinds a b

# A filter that cannot be: the library's sentence, which names the key and the range.
refused() {
    local message=$1; shift
    everbloom dedup "$@" </dev/null
    status_is 2; no_output; err_has "everbloom: $message"
}
refused 'no kind of filter "nonsense"' --filter nonsense
refused 'stable: no option "memroy"; did you mean "memory"?' --filter stable:memroy=1M
for size in 64X 0 1 64mb 64MBi 64B -5M 1e30 65T; do
    misused dedup "-m must be a size from 1K to 64T, such as 500K, 64M or 2GiB, not \"$size\"" dedup -m $size
done
for share in 0 -1 1e-10 0.6 51% x; do
    misused dedup "--max-drop must be a share from 1e-9 to 0.5, such as 1e-6 or 0.1%, not \"$share\"" dedup --max-drop $share
done
for command in merge freeze thaw diff patch; do # -f is a field wherever it is anything
    misused $command "$command has no option -f" $command -f
done
refused 'lru: seed must be' --seed many
refused 'stable: fpr must be' --filter stable:fpr=2
missing x

# Names that people know from elsewhere lead to the command.
for pair in uniq:dedup heavy:top iceberg:top hot:top hll:distinct grep:test; do
    everbloom ${pair%:*} </dev/null
    status_is 2; no_output
    err_is "everbloom: there is no command ${pair%:*}; that is what ${pair#*:} does\nTry 'everbloom --help'.\n"
done
