/* atomic.c - files that appear whole or not at all.
 *
 * A crash at any point leaves the old file as it was.  The new bytes have no name until they are
 * complete and on the disk, on file systems with O_TMPFILE.  Elsewhere, and for the moment between
 * getting a name and taking the place of the old file, they have a temporary one.  Whoever writes
 * such a file holds a lock on it, so the next run can tell those of runs that were killed, and
 * removes them. */
#include "cli.h"
#include "io.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_file *unfinished; /* list of those under way, to be tidied up on failure */

static _Noreturn void fail_errno(const atomic_file *a) {
    cli_fail("%s: %s", a->path, strerror(errno));
}

static char *copy_text(const char *text, size_t n) {
    char *copy = cli_alloc(n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

/* Bytes of path before its last component: 0, or up to and with the last slash. */
static size_t directory_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static char *directory_of(const char *path) {
    size_t n = directory_length(path);
    return n ? copy_text(path, n) : copy_text(".", 1);
}

enum { NAME_PART = 200 }; /* of a long name, so that there is room for the rest */

/* dir/.name.0123456789abcdef; unguessable, so that it meets no other. */
static char *temporary_name(const char *target) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random) cli_fail("no random bytes");
    size_t dir = directory_length(target), size = strlen(target) + 32;
    char *name = cli_alloc(size);
    snprintf(name, size, "%.*s.%.*s.%016llx", (int)dir, target, NAME_PART, target + dir,
             (unsigned long long)random);
    return name;
}

static char *proc_path(int fd, char buf[32]) {
    snprintf(buf, 32, "/proc/self/fd/%d", fd);
    return buf;
}

static bool open_nameless(atomic_file *a) {
    char *dir = directory_of(a->target), proc[32];
    a->fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(dir);
    if (a->fd >= 0 && access(proc_path(a->fd, proc), F_OK) == 0) {
        (void)flock(a->fd, LOCK_EX | LOCK_NB); /* before it has a name */
        return true;
    }
    if (a->fd >= 0) close(a->fd);
    return false;
}

/* A run that sweeps may remove the file between its making and its locking: then make another. */
static void open_named(atomic_file *a) {
    struct stat open_file, named;
    for (;;) {
        a->temporary = temporary_name(a->target);
        a->fd = open(a->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (a->fd < 0) break;
        (void)flock(a->fd, LOCK_EX | LOCK_NB);
        if (fstat(a->fd, &open_file) == 0 && stat(a->temporary, &named) == 0 &&
            open_file.st_ino == named.st_ino)
            return;
        close(a->fd);
        free(a->temporary);
    }
    free(a->temporary);
    a->temporary = NULL;
    fail_errno(a);
}

/* ---- What killed runs left behind. */

enum { HEX_DIGITS = 16 };

/* .name.0123456789abcdef, as temporary_name makes them. */
static bool is_temporary_of(const char *name, const char *base) {
    const size_t length = strlen(base) < NAME_PART ? strlen(base) : NAME_PART;
    if (name[0] != '.' || strncmp(name + 1, base, length) != 0 || name[1 + length] != '.')
        return false;
    const char *const hex = name + 2 + length;
    return strlen(hex) == HEX_DIGITS && strspn(hex, "0123456789abcdef") == HEX_DIGITS;
}

/* Who gets the lock knows that nobody writes it. */
static void remove_if_left(int dir, const char *name) {
    struct stat st;
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(dir, name, 0);
    close(fd);
}

/* Once in a run for each target: a state is saved often. */
static void sweep(const char *target) {
    static char *swept;
    if (swept && strcmp(swept, target) == 0) return;
    free(swept);
    swept = copy_text(target, strlen(target));
    char *const path = directory_of(target);
    DIR *const dir = opendir(path);
    free(path);
    if (!dir) return;
    for (const struct dirent *d; (d = readdir(dir)) != NULL;)
        if (is_temporary_of(d->d_name, target + directory_length(target)))
            remove_if_left(dirfd(dir), d->d_name);
    closedir(dir);
}

/* ---- Life. */

/* The new file shall have the owner and the rights of the one that it replaces. */
static void keep_rights(const atomic_file *a, const struct stat *old) {
    if (access(a->target, W_OK) != 0) fail_errno(a);
    if (fchown(a->fd, old->st_uid, old->st_gid) != 0 && errno != EPERM) fail_errno(a);
    if (fchmod(a->fd, old->st_mode & 07777) != 0 && errno != EPERM) fail_errno(a);
}

static void open_directly(atomic_file *a) {
    a->target = NULL;
    a->fd = open(a->path, O_WRONLY | O_CLOEXEC);
    if (a->fd < 0) fail_errno(a);
}

void atomic_open(atomic_file *a, const char *path) {
    *a = (atomic_file){.fd = STDOUT_FILENO, .path = path};
    if (strcmp(path, "-") == 0) {
        a->path = "standard output";
        return;
    }
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) cli_fail("%s: %s", path, strerror(EISDIR));
    if (exists && !S_ISREG(old.st_mode)) {
        open_directly(a);
        return;
    }
    a->target = exists ? realpath(path, NULL) : copy_text(path, strlen(path));
    if (!a->target) fail_errno(a);
    sweep(a->target);
    if (!open_nameless(a)) open_named(a);
    a->next = unfinished;
    unfinished = a;
    if (exists) keep_rights(a, &old);
}

void atomic_write(atomic_file *a, const void *bytes, size_t n) {
    write_all(a->fd, a->path, bytes, n);
}

/* Blocks of zeros become holes; the last block is written, so that the file has its length. */
void atomic_write_sparse(atomic_file *a, const void *bytes, size_t n) {
    enum { HOLE = 4096 };
    const char *p = bytes, *const end = p + n;
    while (a->target && end - p > HOLE) {
        const char *stop = p;
        while (end - stop > HOLE && is_zero(stop, HOLE)) stop += HOLE;
        if (stop > p && lseek(a->fd, stop - p, SEEK_CUR) < 0) fail_errno(a);
        p = stop;
        while (end - stop > HOLE && !is_zero(stop, HOLE)) stop += HOLE;
        if (stop > p) atomic_write(a, p, (size_t)(stop - p));
        p = stop;
    }
    if (p < end) atomic_write(a, p, (size_t)(end - p));
}

static void forget(atomic_file *a) {
    for (atomic_file **at = &unfinished; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            break;
        }
    free(a->target);
    free(a->temporary);
    *a = (atomic_file){.fd = -1};
}

static void sync_directory(const atomic_file *a) {
    char *dir = directory_of(a->target);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(dir);
    if (fd < 0) return; /* no right to read it: the rename is done all the same */
    (void)fsync(fd);
    close(fd);
}

static void give_name(atomic_file *a) {
    char proc[32];
    char *name = temporary_name(a->target);
    if (linkat(AT_FDCWD, proc_path(a->fd, proc), AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0)
        fail_errno(a);
    a->temporary = name;
}

void atomic_commit(atomic_file *a) {
    if (!a->target) {
        if (a->fd != STDOUT_FILENO && close(a->fd) != 0) fail_errno(a);
        *a = (atomic_file){.fd = -1};
        return;
    }
    if (fsync(a->fd) != 0) fail_errno(a);
    if (!a->temporary) give_name(a);
    if (rename(a->temporary, a->target) != 0) fail_errno(a);
    if (close(a->fd) != 0) cli_fail("%s: %s", a->path, strerror(errno)); /* after fsync: never */
    sync_directory(a);
    forget(a);
}

void atomic_discard(atomic_file *a) {
    if (a->fd > STDERR_FILENO) close(a->fd);
    if (a->temporary) unlink(a->temporary);
    forget(a);
}

void atomic_discard_all(void) {
    while (unfinished) atomic_discard(unfinished);
}

void atomic_unlink_all(void) {
    for (const atomic_file *a = unfinished; a; a = a->next)
        if (a->temporary) unlink(a->temporary);
}
