/* base.c - error texts. */
#include "base.h"
#include <stdarg.h>
#include <stdio.h>

eb_status ebi_fail(eb_error *err, eb_status status, const char *format, ...) {
    if (err) {
        err->status = status;
        va_list args;
        va_start(args, format);
        (void)vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

const char *eb_status_name(eb_status s) {
    switch (s) {
    case EB_OK:
        return "ok";
    case EB_ENOMEM:
        return "out of memory";
    case EB_EINVAL:
        return "invalid argument";
    case EB_ESPEC:
        return "bad spec";
    case EB_EFORMAT:
        return "not a snapshot, or damaged";
    case EB_EVERSION:
        return "from a newer version";
    case EB_EMISMATCH:
        return "filters do not match";
    case EB_ENOTSUP:
        return "not supported by this kind";
    case EB_EREADONLY:
        return "read-only view";
    case EB_EIO:
        return "input/output error";
    }
    return "unknown status";
}

unsigned eb_version(void) {
    return EB_VERSION_NUMBER;
}
