# Lines that come late count at their own place, in dedup --window, count and top.
. "$EXPECT"
slow

# A late line begins its own window, which ends before that of the lines around it.
printf '%s\t%s\n' 1000 a 1009 b 1001 c 1010 c 1012 c 1013 d 1005 d 1014 d 1016 d >in
everbloom dedup --window 10s --time-field 1 -f 2 in
status_is 0; silent
out_is '1000\ta\n1009\tb\n1001\tc\n1012\tc\n1013\td\n'
everbloom dedup --window 10s --refresh --time-field 1 -f 2 in
status_is 0; out_is '1000\ta\n1009\tb\n1001\tc\n1013\td\n'
# It ends where it says, and reaches as far to the front: lines a window away from a printed one are printed.
printf '%s\t%s\n' 1000 a 1009 b 1001 c 1011 c 1100 d 1050 e 1041 e 1040 e >in
everbloom dedup --window 10s --time-field 1 -f 2 in
status_is 0; silent; out_is '1000\ta\n1009\tb\n1001\tc\n1011\tc\n1100\td\n1050\te\n1040\te\n'
# Older than the window: nobody knows what came then, so it is printed; but not twice.
printf '%s\t%s\n' 1000 a 1500 b 1005 b 1004 b 1501 b >in
everbloom dedup --window 10s --time-field 1 -f 2 in
out_is '1000\ta\n1500\tb\n1005\tb\n'
# What is kept beside the filter goes into the state.
printf '%s\t%s\n' 1000 a 1009 b 1001 c >in
everbloom dedup --window 10s --time-field 1 -f 2 --state s in
everbloom dedup --window 10s --time-field 1 -f 2 --state s < <(printf '1010\tc\n1030\tc\n'); out_is '1030\tc\n'

# Also if the last line's time is far ahead, which nobody can refute any more.
printf '%s\t%s\n' 1000 a 1009 b 1001 c 900000 z >in
rm s; everbloom dedup --window 10s --time-field 1 -f 2 --state s in; status_is 0; silent; same out in
everbloom dedup --window 10s --time-field 1 -f 2 --state s < <(printf '900001\tz\n900020\tz\n'); status_is 0; out_is '900020\tz\n'

# Against the slow truth: 20000 lines of 60 keys, up to 300 s late, in a window of 600 s.  Nothing is
# lost: a line that is not printed is near a printed one of its key.  And none is printed too much: a line that is
# printed has no printed one of its key near it that is still in the window of the clock.
awk 'BEGIN { srand(5); for (i = 0; i < 20000; i++) printf "%d\t%d\n", 1600000000 + 20 * i + 300 - (rand() < .3 ? int(300 * rand()) : 0), 60 * rand() }' >in
everbloom dedup --window 600s --time-field 1 -f 2 --max-drop 1e-8 --mark in
status_is 0; silent
awk -F'\t' -v W=600 '
    { t = $2; k = $3; if (t > now) now = t; near = known = 0
      for (i = n[k]; i > 0 && at[k, i] > now - 4 * W; i--) { d = t - at[k, i]; if (d < 0) d = -d
          if (d <= W * 15 / 14 + 1) near = 1
          if (d < W && at[k, i] > now - W) known = 1 }
      if ($1 == 1 && !near) { print "lost: line " NR ": " $0; bad = 1 }
      if ($1 == 0 && known) { print "printed: line " NR ": " $0; bad = 1 }
      if ($1 == 0) at[k, ++n[k]] = t }
    END { exit bad }' out >wrong || fail "$(head -n 3 wrong)"
[ "$(grep -c '^0' out)" -gt 10000 ] || fail "$(grep -c '^0' out) printed"

# count: as if the lines had come in order, byte by byte.
sort -s -n -k 1,1 in >ordered
for how in '--window 600s' '--window 600s --decay chordal' '--half-life 100s'; do
    for file in in ordered; do
        everbloom count $how --time-field 1 -f 2 -m 1M --save "$file.eb" --key 7 --key 31 "$file"
        status_is 0; silent; mv out "$file.out"
    done
    same in.out ordered.out
    cmp -s in.eb ordered.eb || fail "$how: other bytes"
done
# top: the same, with its keys; also if one time is far ahead of its neighbours.
sed '9999s/^[0-9]*/1700000000/' in >odd
sed 9999d in | sort -s -n -k 1,1 >sane
for how in '--window 600s' '--window 600s --decay chordal' '--half-life 100s'; do
    for file in in ordered odd sane; do
        rm -f "$file.eb"
        everbloom top $how --time-field 1 -f 2 -m 1M -n 10 --state "$file.eb" "$file"
        status_is 0; mv out "$file.out"
        if [ $file = odd ]; then err_has 'line 9999: the time is far ahead'; else silent; fi
        [ "$(wc -l <"$file.out")" = 10 ] || fail "$how: $(shown "$file.out")"
    done
    same in.out ordered.out; same odd.out sane.out
    cmp -s in.eb ordered.eb || fail "top $how: other bytes"
    cmp -s odd.eb sane.eb || fail "top $how: other bytes with a time far ahead"
done
# A list on the way has all lines before it, so a line that is later than that is as of then.
printf '%s\t%s\n' 1000 a 1001 b 1011 c 1000 b 1021 d >some
everbloom top --window 1h --time-field 1 -f 2 --every 10s -n 9 --json some
status_is 0; [ "$(wc -l <out)" = 3 ] || fail "$(shown out)"
err_is 'everbloom: 1 line was too late to count at its own place, and counted at the time of the previous line\n'
# Keys of more than 64 MiB are not held back.
awk 'BEGIN { x = "0123456789abcdef"; while (length(x) < 60000) x = x x; for (i = 0; i < 1400; i++) printf "%d\t%d%s\n", 1600000000 + i, i % 3, x }' >long
everbloom top --window 1h --time-field 1 -f 2 -n 3 -m 4M long
[ "$(cut -f 1 out | tr '\n' ' ')" = '467 467 466 ' ] || fail "$(cut -c 1-80 out)"

# Later than 65536 lines: as of the line before, and told.
{ seq 1600000001 1600140000; echo 1600000500; } | awk '{ print $1 "\t" $1 % 1000 }' >in
everbloom count --window 2d --time-field 1 -f 2 --key 500 in
status_is 0; [ "$(cut -f 1 out)" = 141 ] || fail "$(shown out)"
err_is 'everbloom: 1 line was too late to count at its own place, and counted at the time of the previous line\n'
