# While it runs: --stats-every, SIGUSR1 and --metrics.
. "$EXPECT"
mkfifo pipe
"$EVERBLOOM" dedup -m 1M --metrics m.prom --stats-every 100ms --json <pipe >out 2>err &
pid=$!
exec 3>pipe
seq 100 >&3; seq 50 >&3
until_has() { for ((i = 0; i < 400; i++)); do grep -q "$2" "$1" 2>/dev/null && return; sleep 0.05; done; fail "no $2 in $1: $(shown "$1")"; }
until_has err '"lines":150,"unique":100,"duplicates":50'
until_has m.prom '^everbloom_lines_total 150$'
grep -q '^everbloom_repeats_total 50$' m.prom && grep -q '^# TYPE everbloom_lines_total counter$' m.prom || fail "$(shown m.prom)"
[ "$(grep -c . err)" -ge 1 ] || fail 'no statistics'
exec 3>&-
wait $pid || fail "status $?"
[ "$(grep -vc '^#' m.prom)" = 9 ] || fail "$(shown m.prom)"
awk '/^# (HELP|TYPE) everbloom_[a-z_]+ / { next } /^everbloom_[a-z_]+ [0-9.e+-]+$/ { next } { exit 1 }' m.prom || fail "not as Prometheus has it: $(shown m.prom)"

# SIGUSR1 asks once, and nothing else changes.
"$EVERBLOOM" dedup -m 1M --json <pipe >out 2>err &
pid=$!
exec 3>pipe
seq 10 >&3
for ((i = 0; i < 400; i++)); do [ "$(wc -l <out)" = 10 ] && break; sleep 0.05; done
kill -USR1 $pid
until_has err '"lines":10,'
kill -USR1 $pid
for ((i = 0; i < 400; i++)); do [ "$(grep -c '"lines":10,' err)" = 2 ] && break; sleep 0.05; done
cpu=$(awk '{ print $14 + $15 }' /proc/$pid/stat); sleep 0.3
[ "$(awk '{ print $14 + $15 }' /proc/$pid/stat)" -le $((cpu + 5)) ] || fail 'it does not sleep after a signal'
seq 11 20 >&3
exec 3>&-
wait $pid || fail "status $?"
[ "$(wc -l <out)" = 20 ] || fail "lines are lost: $(wc -l <out)"


# Metrics that cannot be written are told before the first line.
everbloom dedup --metrics none/m.prom < <(echo a)
status_is 2; no_output; err_is 'everbloom: none/m.prom: No such file or directory\n'
