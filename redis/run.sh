#!/usr/bin/env bash
# redis/run.sh BUILD: a server with the module, and a two-line example.  On a terminal it runs until Ctrl-C.
set -u
module=$(readlink -f "$1/everbloom-redis.so") || exit 1
folder=$1/redis-run
mkdir -p "$folder"
server=$(command -v redis-server || command -v valkey-server) || { echo "no redis-server and no valkey-server here" >&2; exit 1; }
client=$(command -v redis-cli || command -v valkey-cli)
for port in 6379 $(seq 6390 6420); do # the first that is free
    "$server" --port "$port" --bind 127.0.0.1 --dir "$folder" --save '' --loadmodule "$module" >"$folder/log" 2>&1 &
    pid=$!
    trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null' EXIT
    for _ in $(seq 600); do
        kill -0 $pid 2>/dev/null || continue 2
        grep -q 'Ready to accept connections' "$folder/log" && break 2
        sleep 0.1
    done
done
kill -0 $pid 2>/dev/null || { tail -n 3 "$folder/log" >&2; exit 1; }
echo "A server with everbloom, at port $port: $client -p $port"
for line in 'BF.RESERVE visitors 0.001 1000000 WINDOW 600' 'BF.MADD visitors ann bob ann'; do
    echo "> $line"
    # shellcheck disable=SC2086
    "$client" -p "$port" $line
done
if [ -t 0 ] && [ -t 1 ]; then
    echo "ann is new, bob is new, ann is not: until ten minutes have passed. Ctrl-C ends the server."
    wait $pid
fi
