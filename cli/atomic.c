/* atomic.c - files that appear whole or not at all.
 *
 * A crash at any point leaves the old file as it was, and on file systems with O_TMPFILE it leaves
 * nothing else either: the new bytes have no name until they are complete and on the disk. */
#include "cli.h"
#include "io.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
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

/* dir/.name.0123456789abcdef; unguessable, so that it meets no other. */
static char *temporary_name(const char *target) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random) cli_fail("no random bytes");
    size_t dir = directory_length(target), size = strlen(target) + 32;
    char *name = cli_alloc(size);
    snprintf(name, size, "%.*s.%.200s.%016llx", (int)dir, target, target + dir,
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
    if (a->fd >= 0 && access(proc_path(a->fd, proc), F_OK) == 0) return true;
    if (a->fd >= 0) close(a->fd);
    return false;
}

static void open_named(atomic_file *a) {
    a->temporary = temporary_name(a->target);
    a->fd = open(a->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (a->fd >= 0) return;
    free(a->temporary);
    a->temporary = NULL;
    fail_errno(a);
}

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
    if (!open_nameless(a)) open_named(a);
    a->next = unfinished;
    unfinished = a;
    if (exists) keep_rights(a, &old);
}

void atomic_write(atomic_file *a, const void *bytes, size_t n) {
    write_all(a->fd, a->path, bytes, n);
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
    if (close(a->fd) != 0) fail_errno(a);
    if (rename(a->temporary, a->target) != 0) fail_errno(a);
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
