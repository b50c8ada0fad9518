# Ways to write options.
. "$EXPECT"
same_as() { everbloom "$@" < <(printf '1,x\0002,x\0003,y\0'); status_is 0; out_is '1,x\0003,y\0'; }
same_as dedup -0 -f 2 -d , -m 64K -q
same_as dedup -0f2 -d, -m64K -q
same_as dedup -0qf2 -d, -m64K
same_as dedup --null --field=2 --delimiter=, --memory=64K --quiet
same_as dedup --null --field 2 --delimiter , --memory 64K
same_as dedup -0 -f 9 -f 2 -d: -d, -m 64K          # the last one counts
same_as dedup -0 -f 2 --filter stable:memory=64K -d, - # operands may stand anywhere
same_as dedup - -0 -f 2 -d, -m 64K
same_as dedup -0 -f 2 -d, -m 64K -- -
same_as dedup -0 -f 2 -d, -m 64K --filter stable:fpr=0.01 --seed 16
for time in 1ms 30s 30 5m 1h 1d 0.5s; do everbloom dedup --save-every $time </dev/null; status_is 0; done
