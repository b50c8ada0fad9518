# expect.bash - what the scripts share: run a command, then say what it must have done.
set -u

slow() { # `make check` leaves this script to `make test`
    [ -z "${EVERBLOOM_QUICK:-}" ] || exit 78
}

fail() { # fail MESSAGE - with the place in the script
    echo "$(basename "$0"):${BASH_LINENO[-2]}: $1"
    exit 1
}

skip() { echo "$1"; exit 77; }

# everbloom ARGUMENT... - standard input is passed on; leaves the files out and err, and $status.
everbloom() {
    "$EVERBLOOM" "$@" >out 2>err
    status=$?
}

shown() { cat -v "$1" | head -n 20; }

status_is() {
    [ "$status" -eq "$1" ] || fail "status $status, not $1; on standard error:
$(shown err)"
}

same() { # same FILE FILE
    cmp -s "$1" "$2" || fail "$1 differs from $2:
$(diff <(cat -v "$2") <(cat -v "$1") | head -n 20)"
}

out_is() { # out_is [TEXT] - with the escapes of printf, or the here-document
    if [ $# -gt 0 ]; then printf "$1" >want; else cat >want; fi
    same out want
}

err_is() {
    if [ $# -gt 0 ]; then printf "$1" >want; else cat >want; fi
    same err want
}

err_has() { grep -qF -- "$1" err || fail "no \"$1\" on standard error:
$(shown err)"; }
out_has() { grep -qF -- "$1" out || fail "no \"$1\" on standard output:
$(shown out)"; }
silent() { [ ! -s err ] || fail "standard error is not empty:
$(shown err)"; }
no_output() { [ ! -s out ] || fail "standard output is not empty:
$(shown out)"; }
exists() { [ -e "$1" ] || fail "there is no $1"; }
missing() { [ ! -e "$1" ] || fail "there should be no $1"; }
folder_holds() { # folder_holds DIR NAME... - and nothing else, hidden files counted
    local dir=$1; shift
    [ "$(ls -A "$dir" | sort | tr '\n' ' ')" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] ||
        fail "$dir holds $(ls -A "$dir" | tr '\n' ' ')"
}

# misused HINT-COMMAND MESSAGE ARGUMENT... - the exact two lines of a wrong usage, and status 2.
misused() {
    local command=$1 message=$2; shift 2
    everbloom "$@" </dev/null
    status_is 2
    no_output
    printf 'everbloom: %s\nTry '\''everbloom%s --help'\''.\n' "$message" "${command:+ $command}" >want
    same err want
}

# value KEY - of the JSON object in the file err or, as value KEY FILE, in another.
value() { sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/p" "${2:-err}" | tr -d '"'; }
