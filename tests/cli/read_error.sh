# A file that cannot be read: status 2; what was read before is printed and saved.
. "$EXPECT"
mkdir d
echo a >1
"$EVERBLOOM" dedup -m 64K --state s 1 - <d >out 2>err
status=$?
status_is 2; err_is 'everbloom: standard input: Is a directory\n'; out_is 'a\n'
everbloom dedup --state s 1
status_is 0; no_output
if [ "$(id -u)" != 0 ]; then
    chmod 0 1
    everbloom dedup -m 64K 1
    status_is 2; err_is 'everbloom: 1: Permission denied\n'
fi
