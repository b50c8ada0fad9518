# Help and version: standard output, status 0, every option of every command.
. "$EXPECT"
slow
everbloom --version
status_is 0; silent
grep -qx 'everbloom [0-9]*\.[0-9]*\.[0-9]*' out || fail "$(shown out)"
cp out version
everbloom -V
same out version
everbloom --help
status_is 0; silent
cp out help
for words in -h help; do everbloom $words; status_is 0; same out help; done
for command in dedup add test count distinct top range sum join corpus weigh info check merge copy freeze thaw diff patch plan try predict kinds; do
    grep -q "^  $command " help || fail "$command is not in the help"
    everbloom $command --help
    status_is 0; silent
    grep -q "^Usage: everbloom $command " out || fail "$(shown out)"
    [ "$(wc -L <out)" -le 80 ] || fail "$command --help is wider than a screen"
    cp out help.$command
    # Examples, and every option, are on the first screens.
    [ "$(sed -n '3p; 5p' out | grep -cE '^  ([^ ].*)?everbloom ')" = 2 ] || fail "$command --help does not begin with two examples"
    if grep -q '^The key of a line:' out; then
        head -n 34 out >screen
        for option in $(grep -oE '^  (-., |    )--[a-z-]+' out | grep -oE -e '--[a-z-]+$' | grep -vx -e --help); do
            grep -q -e "$option\b" screen || fail "$command --help: $option is not on the first screen"
        done
    fi
    # Examples use options that there are.
    for option in $(grep -E "^  ([^ ].*)?everbloom $command " out | sed "s/.*everbloom $command //; s/|.*//" | grep -oE -e '(^| )--[a-z-]+'); do
        grep -qE -e "^  (-., |    )$option\b" out || fail "$command --help: an example has $option, which is no option"
    done
    grep -q -i 'unless given' out && fail "$command --help: a default that is not written (default: ...)"
    everbloom help $command; same out help.$command
    everbloom $command -h; same out help.$command
done
for option in -m -f -d -0 -o -q --memory --filter --field --delimiter --csv --null --repeated --mark \
    --state --save-every --output --seed --stats --json --quiet; do
    grep -q -- "$option" help.dedup || fail "$option is not in the help of dedup"
done
head -n 24 help.dedup >screen
for option in --field --csv --jsonl --memory --state --window --max-drop --stats --threads; do
    grep -q -e "$option\b" screen || fail "dedup --help: $option is not in the first 24 lines"
done
grep -q 'standard error' help.dedup || fail "the help does not say where statistics go"
# Help wins over what is wrong elsewhere on the line.
everbloom dedup --mark --repeated --help
status_is 0
