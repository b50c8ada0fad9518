# Completions parse, and know commands, options, kinds and files.
. "$EXPECT"
everbloom --generate bash
status_is 0; silent; cp out complete.bash
bash -n complete.bash || fail "bash cannot read it"
. ./complete.bash
completes() { # completes "LAST-WORDS" ANSWER - COMP_WORDS as bash makes them
    COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _everbloom
    [ "${COMPREPLY[*]-}" = "$2" ] || fail "'$1' gives '${COMPREPLY[*]-}', not '$2'"
}
touch 'a file.eb' other.eb
completes 'everbloom ded' dedup
completes 'everbloom help pre' predict
completes 'everbloom dedup --mem' --memory
completes 'everbloom dedup --filter blo' bloom
completes 'everbloom dedup --state oth' other.eb
completes 'everbloom info a' 'a file.eb'
completes 'everbloom kinds sta' stable
completes 'everbloom dedup -m ' ''
completes 'everbloom count --decay poly' 'polygonal poly polyexp'
everbloom --generate zsh
status_is 0
grep -q '^#compdef everbloom' out || fail "no #compdef"
if command -v zsh >/dev/null; then zsh -n out || fail "zsh cannot read it"; fi
everbloom --generate fish
status_is 0
grep -q -- '-l memory' out || fail "no --memory for fish"
if command -v fish >/dev/null; then fish -n out || fail "fish cannot read it"; fi
