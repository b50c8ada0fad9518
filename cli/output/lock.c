/* lock.c - one run at a time for each --state.
 *
 * A state is replaced by rename, so the lock is on a file beside it, FILE.lock, which holds the
 * number of the process.  The kernel releases it however the process ends.  It is removed at the
 * end; one that is left behind by a process that was killed locks nothing.
 *
 * A run that gets the lock must make sure that the file still has its name: another run may have
 * removed it between opening and locking. */
#include "cli.h"
#include "io.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char *lock_path; /* NULL: nothing is locked */
static int lock_fd;

static char *path_beside(const char *state) {
    char *const target = realpath(state, NULL);
    const char *const base = target ? target : state;
    const size_t size = strlen(base) + sizeof ".lock";
    char *const path = cli_alloc(size);
    snprintf(path, size, "%s.lock", base);
    free(target);
    return path;
}

/* In a shared folder the file may be somebody else's, who was killed: reading is enough for a lock,
 * and O_CREAT is not for files of others there. */
static int open_lock(const char *path) {
    enum { FLAGS = O_CLOEXEC | O_NOFOLLOW };
    for (;;) {
        int fd = open(path, O_RDWR | FLAGS);
        if (fd < 0 && errno == EACCES) fd = open(path, O_RDONLY | FLAGS);
        if (fd < 0 && errno == ENOENT) fd = open(path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
}

static bool still_has_name(int fd, const char *path) {
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 &&
           open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

static _Noreturn void refuse(int fd, const char *state, const char *option) {
    char text[24] = "";
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    const long process = n > 0 ? strtol(text, NULL, 10) : 0;
    if (process > 0)
        cli_fail("%s: process %ld is using it; wait for its end, or give another %s", state,
                 process, option);
    cli_fail("%s: another run is using it; wait for its end, or give another %s", state, option);
}

static void sign(int fd) {
    char text[24];
    const int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, text, (size_t)n, 0);
}

void state_lock(const char *state, const char *option) {
    char *const path = path_beside(state);
    for (;;) {
        const int fd = open_lock(path);
        if (fd < 0) cli_fail("%s: %s", path, strerror(errno));
        const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno == EWOULDBLOCK) refuse(fd, state, option);
        if (!locked)
            cli_warn("%s: %s: make sure that no other run uses this state", path, strerror(errno));
        if (still_has_name(fd, path)) {
            sign(fd);
            lock_path = path;
            lock_fd = fd;
            atexit(state_unlock);
            return;
        }
        close(fd);
    }
}

void state_unlink_lock(void) {
    if (lock_path) unlink(lock_path);
}

/* The name goes while the lock is held: later, it could be that of another run. */
void state_unlock(void) {
    if (!lock_path) return;
    unlink(lock_path);
    close(lock_fd);
    free(lock_path);
    lock_path = NULL;
}
