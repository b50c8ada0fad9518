#!/usr/bin/env bash
# samples.sh DIR - writes the sample files of docs/COOKBOOK.md and of the tutorials to DIR: a web
# server's log, a journal, a pod's log, call records, a crawl, orders and events.  Always the same
# bytes, since the generator is one of Park and Miller with a fixed start.
set -eu
dir=${1:?samples.sh DIR}
mkdir -p "$dir"
cd "$dir"

random='function r() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
function skewed(n) { return int(exp(r() * log(n))) }
function stamp(t) { return sprintf("2024-01-31T%02d:%02d:%02dZ", t / 3600, t / 60 % 60, t % 60) }'

# nginx, combined format: 5000 requests in an hour.
awk "$random"' BEGIN { seed = 11
    for (i = 0; i < 5000; i++) {
        t = 43200 + i * 3600 / 5000
        printf "10.0.%d.%d - - [31/Jan/2024:%02d:%02d:%02d +0000] \"GET /page%d HTTP/1.1\" %d %d \"-\" \"agent/%d\"\n", \
            skewed(3), skewed(250), t / 3600, t / 60 % 60, t % 60, skewed(40), r() < 0.03 ? 500 : 200, 200 + skewed(90000), skewed(9)
    } }' >access.log
gzip -nkf access.log

# journalctl -o json: unit, priority, message, microseconds.
awk "$random"' BEGIN { seed = 12; split("sshd cron nginx kernel postgres", unit, " ")
    for (i = 0; i < 3000; i++)
        printf "{\"__REALTIME_TIMESTAMP\":\"%.0f\",\"_SYSTEMD_UNIT\":\"%s.service\",\"PRIORITY\":\"%d\",\"MESSAGE\":\"%s %d\"}\n", \
            1706702400000000 + i * 1200000, unit[skewed(5.99)], 2 + skewed(5), r() < 0.5 ? "connection from peer" : "job finished", skewed(60) }' >journal.json

# kubectl logs --timestamps --prefix: time, stream, text.
awk "$random"' BEGIN { seed = 13
    for (i = 0; i < 2000; i++)
        printf "%s stdout level=%s pod=web-%d msg=\"%s\"\n", stamp(43200 + i), r() < 0.9 ? "info" : "error", skewed(6), \
            r() < 0.7 ? "request served" : "upstream timed out after " skewed(5) "s" }' >pods.log

# Call records: from, to, start, seconds, cost.
awk "$random"' BEGIN { seed = 14; print "caller,callee,start,seconds,cost"
    for (i = 0; i < 4000; i++) { s = skewed(1800)
        printf "+49%07d,+49%07d,%s,%d,%.2f\n", skewed(3000), 1000000 + skewed(9000), stamp(28800 + i * 5), s, s * 0.0009 } }' >calls.csv

# A crawl: the links of pages, with many repeats.
awk "$random"' BEGIN { seed = 15
    for (i = 0; i < 6000; i++) printf "https://site%d.example/%s/%d\n", skewed(40), r() < 0.5 ? "item" : "Item", skewed(900) }' >links.txt

# A shop: orders as CSV with quotes, and customers.
awk "$random"' BEGIN { seed = 16; print "order,customer,country,amount,note"
    for (i = 1; i <= 3000; i++) { c = skewed(700)
        printf "%d,C%04d,%s,%.2f,\"%s\"\n", i, c, c % 3 ? "DE" : "FR", 3 + r() * 200, r() < 0.1 ? "gift, \"\"wrapped\"\"" : "" } }' >orders.csv
awk "$random"' BEGIN { seed = 17; print "customer,name"; for (i = 1; i < 700; i += 3) printf "C%04d,\"Name, %d\"\n", i, i }' >customers.csv

# Events of an application, one JSON object a line.
awk "$random"' BEGIN { seed = 18; split("view click buy", kind, " ")
    for (i = 0; i < 4000; i++)
        printf "{\"id\":\"e%d\",\"ts\":%d,\"user\":{\"id\":%d},\"kind\":\"%s\",\"ms\":%.3f}\n", \
            r() < 0.9 ? i : i - skewed(50), 1706702400 + i, skewed(800), kind[skewed(3.99)], exp(r() * 6) }' >events.jsonl

# The tutorials, a folder for each.
mkdir -p corpus counting dedup joins ranges sums top windows
cd dedup
awk 'BEGIN {
    x = 3
    for (i = 0; i < 200000; i++) {
        x = (x * 16807) % 2147483647; r = x / 2147483647; host = int(90000 * r * r)
        printf "%d\t10.0.%d.%d\t/page%d\n", 1767225600 + i / 20, host / 256, host % 256, host % 40
    }
}' >requests.tsv
cd ..
cd counting
awk 'BEGIN {
    x = 7
    for (i = 0; i < 200000; i++) {
        x = (x * 16807) % 2147483647; r = x / 2147483647; host = int(20000 * r * r * r * r)
        x = (x * 16807) % 2147483647; bytes = 200 + x % 9000
        printf "10.0.%d.%d /page%d 200 %d\n", host / 256, host % 256, x % 40, bytes
    }
}' >access.log
cd ..
cd joins
awk 'BEGIN { print "customer,name"; for (i = 0; i < 5000; i++) printf "C%04d,\"Name, %d\"\n", i, i }' >customers.csv
awk 'BEGIN {
    x = 9
    print "order,customer,euros"
    for (i = 1; i <= 60000; i++) {
        x = (x * 16807) % 2147483647; c = int(8000 * (x / 2147483647) ^ 3)
        x = (x * 16807) % 2147483647
        printf c % 3 ? "%d,C%04d,%d\n" : "%d,guest%d,%d\n", i, c, 5 + x % 200
    }
}' >orders.csv
cd ..
cd ranges
awk 'BEGIN {
    x = 11
    print "time,sensor,temperature"
    for (i = 0; i < 131040; i++) {
        x = (x * 16807) % 2147483647
        day = i % 1440 / 1440
        t = 1200 + 700 * sin(6.2832 * (day - 0.3)) + i / 300 + x % 400
        printf "%d,s%d,%d\n", 1767225600 + 60 * i, x % 3, t
    }
}' >readings.csv
cd ..
cd sums
awk 'BEGIN {
    x = 9
    print "order,customer,euros"
    for (i = 1; i <= 60000; i++) {
        x = (x * 16807) % 2147483647; c = int(8000 * (x / 2147483647) ^ 3)
        x = (x * 16807) % 2147483647
        printf "%d,C%04d,%d\n", i, c, 5 + x % 200
    }
}' >orders.csv
seq -f 'C%04.0f' 10 10 5000 >list
cd ..
cd windows
for day in 1 2 3 4; do
    awk -v day=$day 'BEGIN {
        x = 100 + day
        for (i = 0; i < 50000; i++) {
            x = (x * 16807) % 2147483647; r = x / 2147483647
            printf "page%d\n", day + 3000 * r * r * r
        }
    }' >day$day.log
done
cd ..
cp counting/access.log top/
