# Lines come out in input order: the same as awk's exact answer, in a filter that has room.
. "$EXPECT"
slow
awk 'BEGIN { srand(7); for (i = 0; i < 200000; i++) print "line " int(rand() * 100000) }' >in
awk '!seen[$0]++' in >unique
awk 'seen[$0]++' in >repeated
awk '{ print (seen[$0]++ ? 1 : 0) "\t" $0 }' in >marked
everbloom dedup -m 8M --seed 1 in
status_is 0; silent; same out unique
everbloom dedup -m 8M --seed 1 <in
same out unique
everbloom dedup -m 8M --seed 1 < <(cat in)
same out unique
everbloom dedup -m 8M --seed 1 --repeated in
status_is 0; same out repeated
everbloom dedup -m 8M --seed 1 --mark in
status_is 0; same out marked
