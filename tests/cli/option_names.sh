# One name, one meaning: an option has the same letter and takes the same kind of value in every command.
. "$EXPECT"
commands=$("$EVERBLOOM" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 19 ] || fail "commands: $commands"
for command in $commands; do
    "$EVERBLOOM" $command --help |
        sed -nE 's/^  (-.,|   ) --([a-z-]+)( ([A-Z][A-Z:]*))?(  .*|$)/\2 \1 \4/p'
done | sort -u >names
[ "$(wc -l <names)" -gt 60 ] || fail "only $(wc -l <names) options"
grep -q '^memory -m, SIZE$' names || fail "the help is not understood"
twice=$(cut -d' ' -f 1 names | uniq -d)
[ -z "$twice" ] || fail "not the same everywhere: $twice"
