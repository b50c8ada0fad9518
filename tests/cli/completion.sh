# Completions parse, and know commands, options, kinds and files.
. "$EXPECT"
everbloom --generate bash
status_is 0; silent; cp out complete.bash
bash -n complete.bash || fail "bash cannot read it"
. ./complete.bash
completes() { # completes "LAST-WORDS" ANSWER - COMP_WORDS as bash makes them
    COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=() COMP_LINE=$1 COMP_POINT=${#1}
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
# Inside specs: bash cuts words at : and =, and replaces what stands behind the last of them.
inside() { # inside SPEC ANSWER
    local line="everbloom dedup --filter $1"
    COMP_WORDS=("$EVERBLOOM" dedup --filter $(sed 's/[:=]/ & /g' <<<"$1"))
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=() COMP_LINE=$line COMP_POINT=${#line}
    _everbloom
    [ "${COMPREPLY[*]-}" = "$2" ] || fail "'$1' gives '${COMPREPLY[*]-}', not '$2'"
}
inside lru:mem memory=
inside lru:keep= 'adaptive recent important'
inside lru:keep=re recent
inside lru:memory=64M,se '64M,seed= 64M,secret='
inside lru:memory=64M,mem ''
inside nothing:mem ''
mkdir -p bin; ln -sf "$EVERBLOOM" bin/everbloom
everbloom --generate zsh
status_is 0
grep -q '^#compdef everbloom' out || fail "no #compdef"
if command -v zsh >/dev/null; then
    zsh -n out || fail "zsh cannot read it"
    mkdir -p functions; cp out functions/_everbloom
    # A shell on a terminal of its own, with a tab typed.
    cat >typed.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT=; fpath=($PWD/functions \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; echo rea''dy"
zpty -r z got "*ready*"
zpty -w -n z "everbloom dedup --filter lru:mem"$'\t'
for (( i = 0; i < 100; i++ )); do
    while zpty -r -t z got; do all+=$got; done
    [[ $all == *lru:memory=* ]] && print found && break
    sleep 0.1
done
zpty -d z
END
    PATH=$PWD/bin:$PATH timeout 20 zsh -f typed.zsh >zsh.out 2>&1 || :
    grep -q found zsh.out || fail "zsh does not complete lru:mem: $(head -c 300 zsh.out)"
fi
everbloom --generate fish
status_is 0
grep -q -- '-l memory' out || fail "no --memory for fish"
if command -v fish >/dev/null; then
    fish -n out || fail "fish cannot read it"
    for asked in 'lru:mem lru:memory=' 'lru:keep=re lru:keep=recent' 'window:unit=t window:unit=time'; do
        got=$(HOME=$PWD PATH=$PWD/bin:$PATH fish -N -c "source out; complete -C 'everbloom dedup --filter ${asked% *}'" | cut -f 1)
        [ "$got" = "${asked#* }" ] || fail "fish: ${asked% *} gives '$got'"
    done
fi
