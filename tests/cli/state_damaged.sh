# A damaged or foreign state file is refused with status 2, and stays as it was.
. "$EXPECT"
mkdir d
everbloom dedup --state d/good -m 64K --seed 3 < <(printf '%s\n' {1..1000})
status_is 0

refused() { # refused FILE MESSAGE
    cp "$1" before
    everbloom dedup --state "$1" < <(echo x)
    status_is 2; no_output; err_has "everbloom: $1: $2"
    same "$1" before
    everbloom add --state "$1" < <(echo x)
    status_is 2; same "$1" before
}

: >d/empty
refused d/empty "not a snapshot"
echo 'just a text file, long enough to hold a header: 0123456789 0123456789 0123456789' >d/text
refused d/text "not a snapshot"
head -c 10 d/good >d/short
refused d/short "not a snapshot"
head -c 3000 d/good >d/cut
refused d/cut "damaged snapshot"
{ cat d/good; echo; } >d/longer
refused d/longer "damaged snapshot: there are bytes after its end"

# One changed byte, anywhere.
size=$(stat -c %s d/good)
for at in 0 8 9 10 12 16 20 24 32 40 48 56 63 64 80 100 300 $((size / 2)) $((size - 1)); do
    cp d/good d/bad
    byte=$(od -An -tu1 -j "$at" -N 1 d/bad | tr -d ' ')
    printf "\\x$(printf %x $((byte ^ 1)))" | dd of=d/bad bs=1 seek="$at" conv=notrunc status=none
    cp d/bad before
    everbloom dedup --state d/bad < <(echo x)
    status_is 2; no_output; same d/bad before
done

# What is no regular file cannot be replaced.
mkdir d/dir
everbloom dedup --state d/dir < <(echo x)
status_is 2; err_is 'everbloom: d/dir: not a regular file\n'
everbloom dedup --state /dev/null < <(echo x)
status_is 2; err_is 'everbloom: /dev/null: not a regular file\n'
everbloom dedup --state none/state < <(echo x)
status_is 2; err_is 'everbloom: none/state: No such file or directory\n'
folder_holds d bad cut dir empty good longer short text
