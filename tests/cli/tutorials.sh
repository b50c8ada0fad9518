# The commands of docs/tutorials and docs/COOKBOOK.md print what the pages say.  In a block that opens with ```console,
# "$ command" may go on with "> more of it", and below stands what it prints, standard error
# included.  The blocks of a page are one session in bash, in a folder of its own.
. "$EXPECT"
slow
unset -f everbloom # pages name the command itself
pages=$(cd "$(dirname "$EXPECT")/../../docs/tutorials" && pwd)
mkdir bin
ln -s "$EVERBLOOM" bin/everbloom
PATH=$PWD/bin:$PATH got=$PWD/got want=$PWD/want

try() { # the command so far, if there is one
    [ -n "$command" ] || return 0
    eval "$command" >"$got" 2>&1
    command=
    cmp -s "$got" "$want" && return
    echo "$page:$at: it prints something else:"
    diff "$want" "$got" | head -n 20
    return 1
}

page_holds() { # page_holds PAGE
    local page=$1 number=0 at=0 inside=no command= line
    set +u
    while IFS= read -r line <&3; do
        number=$((number + 1))
        case $inside:$line in
        'no:```console') inside=yes ;;
        no:*) ;;
        'yes:```') try || return; inside=no ;;
        'yes:$ '*) try || return; command=${line:2} at=$number; : >"$want" ;;
        'yes:> '*) command+=$'\n'${line:2} ;;
        *) printf '%s\n' "$line" >>"$want" ;;
        esac
    done 3<"$page"
}

# The judge is awake: a page is believed only if all of its output is right.
printf '%s\n' '$ false' '```console' '$ x=1; printf "%s\n" \' '> a b' a b '$ echo $x >&2' 1 '```' >right
(page_holds right) || fail "a page that is right is refused"
for change in 's/^a$/c/' '/^b$/d' 's/^1$/1\n2/' 's/^1$//' 's/x >/y >/'; do
    sed "$change" right >wrong
    (page_holds wrong) >/dev/null 2>&1 && fail "a page that is wrong by $change passes"
done

# Pages begin with sample files, which are always the same.
bash "$(dirname "$EXPECT")/../../examples/samples.sh" samples || fail 'no samples'
for page in "$pages"/*.md; do
    [ -e "$page" ] || fail "there are no tutorials in $pages"
    name=$(basename "$page" .md)
    [ -d "samples/$name" ] || fail "there are no samples for $name"
    (cd "samples/$name" && page_holds "$page") || fail "$name does not hold"
done

(cd samples && page_holds "$pages/../COOKBOOK.md") || fail 'the cookbook does not hold'
[ "$(grep -c '^[$] ' "$pages/../COOKBOOK.md")" -ge 25 ] || fail 'fewer than 25 recipes'
