# A state knows how its keys were made, and refuses others.
. "$EXPECT"
printf 'id,host\n1,a\n2,b\n' >in.csv
everbloom dedup --state s -m 64K --csv -f host in.csv
status_is 0
cp s before
refused() { # refused NOW ARGUMENT...
    local now=$1; shift
    everbloom dedup --state s "$@"
    status_is 2; no_output; same s before
    err_is "everbloom: s: its keys are from '--csv -f host', and now would be from '$now': give the same options, another --state, or --new-keys if both make the same keys\n"
}
refused '--csv -f id' --csv -f id in.csv
refused '--csv -f 2' --csv -f 2 in.csv
refused 'whole lines' in.csv
refused '--csv -f host -i' --csv -i -f host in.csv
refused '--csv -f host --trim' --csv --trim -f host in.csv
refused '--jsonl -f host' --jsonl -f host in.csv
refused "-d ; -f 2" -d ';' -f 2 in.csv
refused '-d blank -f 2' -d blank -f 2 in.csv
refused '--regex (x)' --regex '(x)' in.csv
everbloom dedup --state s --csv -f host in.csv
status_is 0; out_is 'id,host\n'
everbloom info s
out_has 'keys are from'; out_has '--csv -f host'
everbloom dedup --state s --csv -f 2 --new-keys in.csv
status_is 0; out_is 'id,host\n' # a line like any other, since its names are not needed
everbloom dedup --state s --csv -f 2 in.csv
status_is 0; out_is ''
everbloom add --state s -f 2 in.csv
status_is 2; err_has "its keys are from '--csv -f 2'"

# A snapshot that somebody else made says nothing, so it is taken as it is.
everbloom add -o plain -m 64K < <(echo a)
everbloom add --state plain -f 1 < <(echo b)
status_is 0
everbloom add --state plain < <(echo b)
status_is 2; err_has "its keys are from '-f 1'"

# add -o and --save say it, too, behind the snapshot: unless keys are whole lines.
printf 'a\tFoo \nb\tBar \n' >lines
everbloom add -o made -m 64K -f 2 -i --trim lines
status_is 0
everbloom info made; out_has '-f 2 -i --trim'
cp made before
everbloom add --state made -f 1 lines
status_is 2; err_has "its keys are from '-f 2 -i --trim'"; same made before
everbloom add -o bytes --filter bloom:memory=64K lines
everbloom merge -o plain bytes
same bytes plain
# Who asks may have the keys in another place, but not in another case.
asked() { # asked MISSING COMMAND...
    local missing=$1; shift
    everbloom "$@"
    status_is 2; no_output
    err_has "its keys are from '-f 2 -i --trim', so give $missing here, too"
}
asked -i test made < <(echo FOO)
asked -i test made --key FOO
asked --trim test made -i --key FOO
everbloom test made -i --trim -f 3 < <(printf '1\t2\t FOO\n1\t2\tx\n')
status_is 0; out_is '1\t2\t FOO\n'
everbloom count -m 64K -f 2 -i --trim --save made --key foo lines
asked -i count --snapshot made --key FOO
asked -i sum --snapshot made --key FOO
everbloom freeze -o small made
status_is 0; asked -i count --snapshot small --key FOO
everbloom count --snapshot made -i --trim --key FOO
status_is 0; out_has '1	1	1'
asked -i join --with made -f 1 lines
everbloom join --with made -f 1 -i --trim - < <(echo FOO)
status_is 0; out_has 'foo'
