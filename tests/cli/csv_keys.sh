# --csv against Python's reader, on random records; broken ones do no harm.
. "$EXPECT"
command -v python3 >/dev/null || skip "no python3"
python3 - <<'P'
import csv, io, random
from collections import Counter
random.seed(5)
def field():
    s = ''.join(random.choice('ab"\n, \r5') for _ in range(random.randrange(5)))
    return s
keys, ones = [], []
with open('in', 'w', newline='') as out:
    for i in range(6000):
        row = [field() for _ in range(random.randrange(1, 6))]
        b = io.StringIO()
        csv.writer(b, quoting=csv.QUOTE_ALL if '\r' in ''.join(row) else random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), lineterminator=random.choice(['\n', '\r\n'])).writerow(row)
        out.write(b.getvalue())
rows = list(csv.reader(open('in', newline='')))
assert len(rows) == 6000
def put(name, keys):
    open(name, 'w', newline='').write(''.join(sorted('%d\t%s\0' % (n, k) for k, n in Counter(keys).items())))
put('want2', [r[1] for r in rows if len(r) > 1])
put('wantlast', [r[-1] for r in rows])
open('mutated', 'wb').write(bytes(random.choice(b'",\n\rab') for _ in range(30000)) + b'\n')
P
answers() { python3 -c 'import json, sys
sys.stdout.buffer.write(b"".join(sorted(b"%d\t%s\0" % (o["count"], o["key"].encode()) for o in map(json.loads, open("out")))))'; }
everbloom top --csv -f 2 --at-least 1 --verify --json in; status_is 0; answers >got; same got want2
everbloom top --csv -f -1 --at-least 1 --verify --json < <(dd if=in bs=997 status=none) --rescan in; status_is 0; answers >got; same got wantlast
everbloom dedup --csv -f 2,1 --mark mutated; status_is 0
everbloom dedup --csv -f 2 --on-bad pass --window 100000 --repeated mutated; status_is 0
