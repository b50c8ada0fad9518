# -o: whole or not at all, under the rights of the file it replaces, through links, devices directly.
. "$EXPECT"
mkdir d
everbloom dedup -o d/out < <(printf 'a\na\n')
status_is 0; no_output; silent
printf 'a\n' >want; same d/out want
folder_holds d out

# A file may be its own result.
printf 'x\ny\nx\n' >d/self
everbloom dedup -o d/self d/self
status_is 0; printf 'x\ny\n' >want; same d/self want

# Rights of the old file stay; a new one follows the umask.
chmod 640 d/self
everbloom dedup -o d/self d/self
[ "$(stat -c %a d/self)" = 640 ] || fail "rights became $(stat -c %a d/self)"
(umask 027; "$EVERBLOOM" dedup -o d/new d/self)
[ "$(stat -c %a d/new)" = 640 ] || fail "rights of a new file are $(stat -c %a d/new)"

# A symbolic link stays a link.
ln -s self d/link
everbloom dedup -o d/link < <(echo through)
[ -L d/link ] || fail "the link is gone"
echo through >want; same d/self want

# A device is written, not replaced.
everbloom dedup -o /dev/null < <(echo a)
status_is 0
[ -c /dev/null ] || fail "/dev/null is no device any more"
everbloom dedup -o - < <(echo a)
status_is 0; out_is 'a\n'

# Places where nothing can be written are known before any work is done.
everbloom dedup -o none/out < <(echo a)
status_is 2; err_is 'everbloom: none/out: No such file or directory\n'
everbloom dedup -o d < <(echo a)
status_is 2; err_is 'everbloom: d: Is a directory\n'

# After a failure the old file is as it was, and nothing lies about.
echo old >d/self; cp d/self want
everbloom dedup -o d/self --filter nonsense d/new
status_is 2; same d/self want
folder_holds d out self new link
