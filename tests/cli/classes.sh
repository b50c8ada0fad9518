# Classes of keys: from a hot list in the filter, from a field, from rules; no member is missed.
. "$EXPECT"
seq 1 3000 >members
seq 3001 23000 >others
found() { everbloom "$@"; [ "$status" -lt 2 ] || fail "$(shown err)"; wc -l <out; }

# A hot list: in the filter, so that test needs no options.
{ seq 1 40 3000; seq 20000 20500; } | sed 's/^/2\t/' >hot
everbloom add --filter weighted:memory=5K,class_bits=3:12 --classes hot --seed 1 -o s members
status_is 0; no_output; silent
everbloom test s members
status_is 0; same out members
everbloom info s
out_has 'weighted:class_bits=3:12,hot=576,'
seq 20000 20500 >hot_others
seq 3001 3501 >cold_others
hot=$(found test s hot_others) cold=$(found test s cold_others)
[ "$hot" -lt 30 ] && [ "$cold" -gt 90 ] || fail "hot $hot, cold $cold: classes make no difference"
everbloom add --filter weighted:memory=16K,class_bits=3:12,hot=10 --classes hot -o t members
status_is 2; missing t; err_is 'everbloom: hot: the hot list is full: make the filter with a larger hot=\n'
everbloom add --filter weighted:memory=64K,class_bits=3:12,shards=4,hash=sip,secret=00112233445566778899aabbccddeeff --classes hot -o t members
status_is 0
everbloom test t members
status_is 0; rm t
: >empty
everbloom add --filter weighted:memory=4K,class_bits=3:12 --classes empty -o t members
status_is 0
everbloom test t members
status_is 0

# The state goes on; its list is frozen.
everbloom add --filter weighted:memory=16K,class_bits=3:12 --classes hot --state st < <(seq 1500)
status_is 0
everbloom add --state st < <(seq 1501 3000)
status_is 0
everbloom test st members
status_is 0
everbloom add --state st --classes hot members
status_is 2; err_is 'everbloom: st: --classes is for a new filter: the hot list is frozen with the first key\n'

# A class in the line, a class by rules: more bits for class 2, and the fewest if none is told.
rule() { awk -v OFS='\t' '{ print $1, ($1 % 10 == 0 ? 2 : 1) }' "$1"; }
rule members >members.tsv; rule others >others.tsv
everbloom add --filter weighted:memory=2K,class_bits=2:9,seed=1 -f 1 --class-field 2 -o f members.tsv
status_is 0; silent
everbloom test f -f 1 --class-field 2 members.tsv
status_is 0; same out members.tsv
everbloom test f members
status_is 0
told=$(found test f -f 1 --class-field 2 others.tsv) untold=$(found test f others)
[ "$told" -lt "$untold" ] || fail "told $told, untold $untold"
printf '2\t*0\n1\t*5\n3\t*5\n' >rules
everbloom add --filter weighted:memory=2K,class_bits=2:9:9,seed=1 --class-rules rules -o r members
status_is 0; silent
everbloom test r --class-rules rules members
status_is 0
[ "$(found test r --class-rules rules others)" = "$told" ] || fail "rules and field differ"
everbloom test --csv -d';' -f 2 --class-field 1 f < <(printf '"2";"10"\n1;11\n')
status_is 0; out_is '"2";"10"\n1;11\n'
everbloom add -0 --filter weighted:memory=2K,class_bits=2:9 --class-rules <(printf '2\ta\nb\0') -o z < <(printf 'a\nb\0')
status_is 0
everbloom test -0 z --class-rules <(printf '2\ta\nb\0') < <(printf 'a\nb\0')
status_is 0

# Bad classes: one sentence with file and line.
bad() { # bad MESSAGE LINE...
    local message=$1; shift
    printf '%b\n' "$@" >bad
    rm -f t
    everbloom add --filter weighted:memory=2K,class_bits=2:9 --classes bad -o t members
    status_is 2; missing t; err_is "everbloom: bad: line 2: $message\n"
    everbloom test f --class-rules bad members
    status_is 2; no_output; err_is "everbloom: bad: line 2: ${message/a key/a pattern}\n"
}
bad 'a line must be CLASS, a tab and a key, not ""' '1\ta' ''
bad 'a line must be CLASS, a tab and a key, not "2"' '1\ta' 2
bad 'the class must be a whole number 1..2, not ""' '1\ta' '\tb'
bad 'the class must be a whole number 1..2, not "x"' '1\ta' 'x\tb'
bad 'the class must be a whole number 1..2, not "3"' '1\ta' '3\tb'
bad 'the class must be a whole number 1..2, not "0"' '1\ta' '0\tb'
printf 'a\t1\n' >first; printf 'a\t1\nb\n' >second
everbloom test f -f 1 --class-field 2 --on-bad fail first second
status_is 2; err_is 'everbloom: second: line 2: there is no field 2 (fields end at a tab: see -d)\n'
everbloom add --filter weighted:memory=2K,class_bits=2:9 -f 1 --class-field 2 --on-bad fail -o t < <(printf 'a\t1\nb\t-1\n')
status_is 2; missing t; err_is 'everbloom: standard input: line 2: the class must be a whole number 1..2, not "-1"\n'
everbloom add --filter weighted:memory=2K,class_bits=2:9 --classes none -o t members
status_is 2; err_is 'everbloom: none: No such file or directory\n'

# What makes no sense.
nonsense() { # nonsense MESSAGE ARGUMENT...
    local message=$1; shift
    everbloom "$@" members
    status_is 2; no_output; err_has "everbloom: $message"
}
several=weighted:memory=2K,class_bits=2:9
nonsense 'a weighted filter with classes needs --class-field, --class-rules or --classes' add --filter $several
nonsense 'dedup does not support classes of keys: give a weighted filter a single k' dedup --filter $several
nonsense '--classes and --class-field: give one of them' add --filter $several --classes hot --class-field 2
nonsense '--classes and --class-rules: give one of them' add --filter $several --classes hot --class-rules rules
nonsense '--class-field and --class-rules: give one of them' add --filter $several --class-field 2 --class-rules rules
nonsense '--classes needs --filter weighted:class_bits=..., with a number for each class' add --classes hot
nonsense '--classes needs --filter weighted:class_bits=..., with a number for each class' add --filter bloom:memory=2K --classes hot
nonsense '--class-field needs a filter of kind weighted' add --filter bloom:memory=2K --class-field 2
nonsense '--class-rules needs a filter of kind weighted' add --class-rules rules
nonsense '--class-field: this filter has a hot list, which alone' add --filter $several,hot=9 --class-field 2
nonsense '--class-rules: this filter has a hot list, which alone' test s --class-rules rules
missing t
