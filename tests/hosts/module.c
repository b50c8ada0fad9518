/* module.c - the shape of a module that a host loads (Redis, SQLite, PostgreSQL): everbloom is
 * linked into it, and only the entry point may be visible, or two modules with different releases
 * would meet.  make symbols. */
#include <everbloom/everbloom.h>

__attribute__((visibility("default"))) int host_module_start(void *context);

int host_module_start(void *context) {
    eb_filter *f;
    (void)context;
    if (eb_new(&f, "bloom:memory=4K", NULL, NULL) != EB_OK) return 1;
    eb_free(f);
    return 0;
}
