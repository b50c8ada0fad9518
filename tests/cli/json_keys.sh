# --jsonl: values by their path, compared with Python's reader on random documents; broken ones do no harm.
. "$EXPECT"
slow
command -v python3 >/dev/null || skip "no python3"
printf '%s\n' '{"user":{"id":7},"t":1}' '{"t":2,"user":{"name":"x","id":7}}' '{"user":{"id":"7"}}' '{"user":{"id":8}}' >in
everbloom dedup --jsonl -f user.id in; status_is 0; silent; sed -n '1p;4p' in | out_is
everbloom top --jsonl -f 'items[1].sku' --at-least 1 < <(printf '%s\n' '{"items":[{"sku":"a"},{"sku":"b\u0041\ud83d\ude00"}]}' '{"items":[0,{"sku":"bA😀"}]}' '{"items":[]}')
out_is '2\tbA😀\n'; err_is 'everbloom: 1 of 3 lines skipped; the first is standard input: line 3: there is no items[1].sku\n'
everbloom top --jsonl -f '"a.b"."c[0]"' --at-least 1 < <(printf '%s\n' '{"a.b":{"c[0]":[1, 2]}}'); out_is '1\t[1, 2]\n'
everbloom top --jsonl -f v --at-least 1 < <(printf '%s\n' '{"v":null}' '{"v":true}' '{"v":1.0}' '{"v":1}' '{"w":1}' '{"v":"\ud800"}' '{"\u0076":"name"}')
sort out >got; printf '1\t%s\n' 1 1.0 name null true $'\xef\xbf\xbd' | sort >want; same got want
for bad in '' x '[]' '{' '{"v"' '{"v":' '{"v":"a' '{"v":"\x"}' '{"v":"\u12"}' '{"a":1 "v":2}' '{"a":[1,"v":2}' '{"v" 1}' '{"v":}' '{"v":"\'; do
    everbloom dedup --jsonl -f v < <(printf '%s\n' "$bad"); status_is 0; printf '%s\n' "$bad" | out_is; err_has '1 of 1 lines passed through unchecked'
done
for path in . a. .a 'a[' 'a[x]' 'a[]' 'a]b[0'x '"a"b'; do
    everbloom dedup --jsonl -f "$path" </dev/null; [ "$path" = 'a]b[0x' ] || { status_is 2; err_has 'a JSON path looks like user.id or items[0].sku'; }
done

python3 - <<'P'
import json, random
random.seed(4)
letters = 'ab"\\/\n\té😀\u0000\x7f ,:{}[]'
def text(): return ''.join(random.choice(letters) for _ in range(random.randrange(4)))
def value(depth):
    kind = random.randrange(9 if depth else 6)
    if kind == 0: return random.choice([0, -1, 12, 1.5, 1e30, -0.25])
    if kind == 1: return random.choice([True, False, None])
    if kind < 6: return text()
    if kind == 6: return [value(depth - 1) for _ in range(random.randrange(3))]
    return {random.choice(['k', 'j', 'x"', 'é', text()]): value(depth - 1) for _ in range(random.randrange(4))}
def written(v):
    s = json.dumps(v, ensure_ascii=random.random() < 0.5)
    return s.replace('k', '\\u006b') if random.random() < 0.1 else s
lines, keys = [], []
def find(v, path):
    for step in path:
        if isinstance(step, int):
            if not isinstance(v, list) or step >= len(v): return None, False
            v = v[step]
        else:
            if not isinstance(v, dict) or step not in v: return None, False
            v = v[step]
    return v, True
while len(lines) < 3000:
    v = {'j': value(3), 'k': {'j': [value(1), value(2)]}} if random.random() < 0.7 else value(3)
    if not isinstance(v, dict): continue
    s = written(v)
    if random.random() < 0.3:
        s = ''.join(c + (random.choice([' ', '\t', '']) if c in '{}[],:' and not '"' in s else '') for c in s)
    k, found = find(json.loads(s), ['k', 'j', 1])
    if found and isinstance(k, (dict, list)): continue
    lines.append(s)
    if found: keys.append(k if isinstance(k, str) else json.dumps(k))
from collections import Counter
open('docs', 'wb').write(b''.join(l.encode() + b'\n' for l in lines))
open('want', 'wb').write(b''.join(sorted(b'%d\t%s\0' % (n, k.encode('utf-8', 'replace')) for k, n in Counter(keys).items())))
print(len(keys) - len(set(keys)), file=open('n', 'w'))
# Broken: bytes changed, dropped and doubled.
out = open('broken', 'wb')
for l in lines:
    b = bytearray(l.encode())
    for _ in range(random.randrange(1, 4)):
        i = random.randrange(len(b) + 1)
        b[i:i + random.randrange(3)] = bytes(random.choice(b'"\\{}[],:u0k ') for _ in range(random.randrange(3)))
    out.write(bytes(b).replace(b'\n', b'') + b'\n')
P
everbloom top --jsonl -f 'k.j[1]' --at-least 1 --verify docs
status_is 0; err_has 'there is no k.j[1]'
everbloom top --jsonl -f 'k.j[1]' --at-least 1 --verify --json docs
python3 -c 'import json, sys
sys.stdout.buffer.write(b"".join(sorted(b"%d\t%s\0" % (o["count"], o["key"].encode()) for o in map(json.loads, open("out", encoding="utf-8")))))' >got
same got want
everbloom dedup --jsonl -f 'k.j[1]' --repeated --json docs; repeated=$(value duplicates)
[ "$repeated" = "$(cat n)" ] || fail "$repeated repeats, not $(cat n)"
everbloom dedup --jsonl -f 'k.j[1],j' --mark broken; status_is 0; cut -c 3- out >lines; same lines broken
everbloom dedup --jsonl -f 'k.j[1]' -i --trim < <(dd if=broken bs=997 status=none); status_is 0
