# Nothing in, nothing out, all is well.
. "$EXPECT"
everbloom dedup </dev/null
status_is 0; no_output; silent

: >empty
everbloom dedup empty empty
status_is 0; no_output; silent

everbloom dedup --mark </dev/null
status_is 0; no_output

everbloom dedup --json -m 1M </dev/null
status_is 0
[ "$(value lines)" = 0 ] && [ "$(value bytes)" = 0 ] || fail "lines or bytes are not 0"

everbloom dedup --state state -m 1M </dev/null
status_is 0
exists state
