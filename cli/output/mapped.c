/* mapped.c - files in memory.  A mapped file costs no memory of its own, and several runs share it;
 * but if the file shrinks while it is in use, reading it raises SIGBUS.  That ends the program with
 * a message, because answers from half a filter would be wrong. */
#include "cli.h"
#include "io.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MAPPED_MAX = 16,
    MESSAGE_MAX = 512
}; /* files at a time; more are mapped without a message */
static struct mapped {
    const char *begin, *end; /* NULL: nothing here */
    char message[MESSAGE_MAX];
} files[MAPPED_MAX];

static void file_is_shorter(int number, siginfo_t *info, void *context) {
    const char *const at = info->si_addr;
    (void)context;
    for (size_t i = 0; i < MAPPED_MAX; i++) {
        if (!files[i].begin || at < files[i].begin || at >= files[i].end) continue;
        (void)!write(STDERR_FILENO, files[i].message, strlen(files[i].message));
        atomic_unlink_all();
        state_unlink_lock();
        _exit(STATUS_TROUBLE);
    }
    signal(number, SIG_DFL); /* not ours: the access is tried again, and ends the program */
}

static void watch(const char *name, const char *begin, size_t length) {
    struct sigaction act = {.sa_sigaction = file_is_shorter, .sa_flags = SA_SIGINFO};
    sigemptyset(&act.sa_mask);
    sigaction(SIGBUS, &act, NULL);
    for (size_t i = 0; i < MAPPED_MAX; i++) {
        if (files[i].begin) continue;
        snprintf(files[i].message, MESSAGE_MAX,
                 "everbloom: %.300s: the file became shorter while it was in use; write a new file "
                 "and rename it "
                 "instead\n",
                 name);
        files[i].end = begin + length;
        files[i].begin = begin;
        return;
    }
}

void *mapped_open(int fd, const char *name, size_t length) {
    void *const bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) cli_fail("%s: %s", name, strerror(errno));
    watch(name, bytes, length);
    return bytes;
}

void mapped_close(void *bytes, size_t length) {
    for (size_t i = 0; i < MAPPED_MAX; i++)
        if (files[i].begin == bytes) files[i].begin = NULL;
    munmap(bytes, length);
}
