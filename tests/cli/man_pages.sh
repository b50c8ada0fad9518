# Man pages of the program and of every command, without a warning.
. "$EXPECT"
slow
everbloom --generate pages
status_is 0
cp out pages
everbloom --help
{ echo everbloom; sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/everbloom-\1/p' out; } >listed
same pages listed
for page in $(cat pages); do
    everbloom --generate man "$page"
    status_is 0; silent
    cp out page.1
    grep -q '^\.SH NAME$' page.1 && grep -q '^\.SH "EXIT STATUS"$' page.1 || fail "$page lacks a section"
    for tool in 'groff -man -Tutf8 -ww -z' 'man --warnings -l'; do
        command -v ${tool%% *} >/dev/null || continue
        $tool page.1 >text 2>warnings
        [ ! -s warnings ] || fail "$tool $page: $(shown warnings)"
    done
done
everbloom --generate man everbloom-dedup
for option in memory filter field delimiter csv null repeated mark state save-every output seed stats json quiet; do
    grep -qF -- "\-\-${option//-/\\-}" out || fail "--$option is not in the page of dedup"
done
