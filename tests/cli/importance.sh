# Importance comes with the line; a line with a bad one is passed on, or ends the command.
. "$EXPECT"

printf 'a\t5\nb\t1\na\t5\n' >in
everbloom dedup -f 1 --importance-field 2 --importance-range 1:10 in
status_is 0; out_is 'a\t5\nb\t1\n'
everbloom dedup --csv -f 2 --importance-field 1 --json < <(printf '"7",x\n8,"x"\n')
status_is 0; out_is '"7",x\n'; err_has '"filter":"lru:'

bad() { # bad SHOWN LINE...: line 2 is bad
    local shown=$1; shift
    everbloom dedup -f 1 --importance-field 2 --importance-range 1:10 --on-bad fail < <(printf '%b\n' "$@")
    status_is 2; out_is 'a\t1\n'
    err_is "everbloom: standard input: line 2: $shown\n"
    everbloom dedup -f 1 --importance-field 2 --importance-range 1:10 < <(printf '%b\n' "$@")
    status_is 0; out_is "$(printf '%b\\n' "$@")"
}
bad 'there is no field 2 (fields end at a tab: see -d)' 'a\t1' 'b'
bad 'the importance must be a whole number 1..10, not ""' 'a\t1' 'b\t'
bad 'the importance must be a whole number 1..10, not "x"' 'a\t1' 'b\tx'
bad 'the importance must be a whole number 1..10, not "1.5"' 'a\t1' 'b\t1.5'
bad 'the importance must be a whole number 1..10, not "-1"' 'a\t1' 'b\t-1'
bad 'the importance must be a whole number 1..10, not "11"' 'a\t1' 'b\t11'
bad 'the importance must be a whole number 1..10, not "0"' 'a\t1' 'b\t0'
bad 'the importance must be a whole number 1..10, not "99999999999999999999"' 'a\t1' 'b\t99999999999999999999'

# The published filter is there for who asks for it.
everbloom dedup -f 1 --importance-field 2 --importance-range 1:10 --filter importance:memory=4K --json in
status_is 0; out_is 'a\t5\nb\t1\n'; err_has '"filter":"importance:'

# add makes such a filter, too.
everbloom add -f 1 --importance-field 2 --importance-range 1:10 -m 4K -o added in
status_is 0; silent
everbloom info --json added
out_has 'keep=important,low=1,high=10,'

misused() { # misused MESSAGE ARGUMENT...
    local message=$1; shift
    everbloom dedup "$@" in
    status_is 2; no_output; err_has "everbloom: $message"
}
misused 'an importance filter needs --importance-field' --filter lru:keep=important
misused 'an importance filter needs --importance-field' --filter importance
misused '--importance-field needs a filter with importance, such as lru:keep=important' --importance-field 2 --filter lru
misused '--importance-range must be A:B, such as 1:100, not "10"' --importance-field 2 --importance-range 10
misused 'lru: low must be below high=1, not 10' --importance-field 2 --importance-range 10:1
misused 'lru: low must be 0..4294967295, not x' --importance-field 2 --importance-range x:1
