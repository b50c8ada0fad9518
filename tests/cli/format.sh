# Another language reads our files: the Python of docs/FORMAT.md answers as the command does.
. "$EXPECT"
python=/usr/bin/python3
$python -c 'import xxhash' 2>/dev/null || skip 'no Python with xxhash'
sed -n '/^```python$/,/^```$/p' "${EXPECT%/*}/../../docs/FORMAT.md" | sed '1d;$d' >ask.py
[ -s ask.py ] || fail 'docs/FORMAT.md has no Python'

printf '%s\n' {1..3000} | "$EVERBLOOM" add --filter bloom:memory=2K,k=3,seed=77 -o snapshot
printf '%s\n' {2001..5000} >asked
everbloom test --mark -d ' ' snapshot asked
$python ask.py snapshot <asked >by_python
same out by_python
grep -q '^0' out && grep -q '^1 [45]' out || fail 'the answers are all alike'
