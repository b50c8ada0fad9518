/* untranslated.c - messages as they are, for a server that has the sanitizers preloaded.
 *
 * Debian's postgres with libasan before it never returns from its first bindtextdomain.  With these
 * functions before the C library's it calls none of them. */
#include <libintl.h>
#undef gettext
#undef dgettext
#undef dcgettext
#undef ngettext
#undef dngettext
#undef textdomain
#undef bindtextdomain
#undef bind_textdomain_codeset

static char *as_it_is(const char *text) {
    union {
        const char *in;
        char *out;
    } same = {text};
    return same.out;
}

char *bindtextdomain(const char *domain, const char *folder) {
    (void)domain;
    return as_it_is(folder);
}

char *bind_textdomain_codeset(const char *domain, const char *codeset) {
    (void)domain;
    return as_it_is(codeset);
}

char *textdomain(const char *domain) {
    return as_it_is(domain);
}

char *gettext(const char *text) {
    return as_it_is(text);
}

char *dgettext(const char *domain, const char *text) {
    (void)domain;
    return as_it_is(text);
}

char *dcgettext(const char *domain, const char *text, int category) {
    (void)domain, (void)category;
    return as_it_is(text);
}

char *ngettext(const char *one, const char *many, unsigned long n) {
    return as_it_is(n == 1 ? one : many);
}

char *dngettext(const char *domain, const char *one, const char *many, unsigned long n) {
    (void)domain;
    return as_it_is(n == 1 ? one : many);
}
