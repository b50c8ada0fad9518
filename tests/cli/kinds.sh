# kinds: what there is, and the options of each.
. "$EXPECT"
everbloom kinds
status_is 0; silent
grep -q '^  bloom  *the Bloom filter' out && grep -q '^  stable  ' out || fail "$(shown out)"
# Recommended kinds come first, each under its question; then those kept as published.
[ "$(head -n 1 out)" = 'Was it there before, in a stream that never ends?' ] || fail "$(shown out)"
awk '/^Kept as published/ { kept = 1 } /^  stable / { s = kept } /^  lru / { l = !kept } END { exit !(s && l) }' out || fail "$(shown out)"
everbloom kinds stable
status_is 0
grep -q '^stable: ' out && grep -q '^  memory ' out && grep -q '^  fpr ' out || fail "$(shown out)"
everbloom kinds --json
status_is 0
out_has '"name":"bloom"'
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; k = json.load(sys.stdin); stable = [x for x in k if x["name"] == "stable"][0]; assert any(o["key"] == "fpr" for o in stable["options"])' <out ||
        fail "not the JSON that it should be"
fi
everbloom kinds --json bloom
out_has '[{"name":"bloom"'
misused kinds 'there is no kind "blom"; did you mean "bloom"?' kinds blom
misused kinds 'there is no kind "xyzzy"; '\''everbloom kinds'\'' lists them' kinds xyzzy
