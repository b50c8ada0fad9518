/* terminal.c - signals that ask to stop, and the progress line. */
#include "cli.h"
#include "io.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught, asked;
static int wake[2] = {-1,
                      -1}; /* a byte in this pipe wakes a poll that a signal came too early for */

static void note_signal(int number) {
    int saved = errno;
    caught = number;
    (void)!write(wake[1], "", 1);
    errno = saved;
}

/* SIGUSR1: somebody wants to know how it goes. */
static void note_question(int number) {
    int saved = errno;
    (void)number;
    asked = 1;
    (void)!write(wake[1], "", 1);
    errno = saved;
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* What nohup or a shell has made deaf stays so. */
static void handle_with(void (*handler)(int), int flags) {
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], NULL, &old);
        if (numbers[i] == SIGHUP && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &act, NULL);
    }
}

/* Only what a handler of signals may do. */
static void end_at_once(int number) {
    atomic_unlink_all();
    state_unlink_lock();
    signal(number, SIG_DFL);
    raise(number);
}

void signals_end_at_once(void) {
    handle_with(end_at_once, (int)(SA_RESETHAND | SA_NODEFER));
}

void signals_catch(void) {
    if (wake[0] < 0) {
        if (pipe(wake) != 0) cli_fail("pipe: %s", strerror(errno));
        for (int i = 0; i < 2; i++) {
            fcntl(wake[i], F_SETFD, FD_CLOEXEC);
            fcntl(wake[i], F_SETFL, O_NONBLOCK);
        }
    }
    handle_with(note_signal, (int)SA_RESETHAND);
    struct sigaction question = {.sa_handler = note_question};
    sigemptyset(&question.sa_mask);
    sigaction(SIGUSR1, &question, NULL);
}

bool signals_asked(void) {
    char byte;
    if (!asked) return false;
    asked = 0;
    if (!caught) (void)!read(wake[0], &byte, 1);
    return true;
}

int signals_stop(void) {
    return caught;
}

int signals_descriptor(void) {
    return wake[0];
}

double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool progress_on_screen;

void progress_start(progress *p, bool quiet) {
    /* Lines that scroll past on the same terminal are progress enough. */
    p->on = !quiet && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    p->start = p->last = now_seconds();
}

/* ", 40 %, 12 s left" */
static const char *rest(double share, double seconds, char text[48]) {
    const double left = share > 0 ? seconds / share - seconds : 0;
    text[0] = '\0';
    if (share <= 0 || share > 1) return text;
    if (left < 90)
        snprintf(text, 48, ", %.0f %%, %.0f s left", 100 * share, ceil(left));
    else
        snprintf(text, 48, ", %.0f %%, %.0f min left", 100 * share, ceil(left / 60));
    return text;
}

void progress_show(progress *p, double now, uint64_t lines, uint64_t seen, uint64_t bytes,
                   double share) {
    if (!p->on || now - p->start < 1 || now - p->last < 1.0 / 6) return;
    char amount[32], rate[32], count[32], left[48];
    double percent = lines ? 100.0 * (double)seen / (double)lines : 0;
    fprintf(stderr, "\r%s, %s/s, %s lines, %.1f %% seen before%s\033[K",
            human_bytes(amount, (double)bytes), human_bytes(rate, (double)bytes / (now - p->start)),
            human_number(count, (double)lines), percent, rest(share, now - p->start, left));
    progress_on_screen = true;
    p->last = now;
}

void progress_clear(void) {
    if (progress_on_screen) fputs("\r\033[K", stderr);
    progress_on_screen = false;
}
