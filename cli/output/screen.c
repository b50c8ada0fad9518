/* screen.c - see screen.h. */
#include "screen.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios usual;
static int changed = -1; /* the terminal whose settings are to be put back, or -1 */
static bool other_page;

static void put_back(void) {
    static const char leave[] = "\033[?25h\033[?1049l";
    if (changed >= 0) (void)tcsetattr(changed, TCSANOW, &usual);
    changed = -1;
    if (other_page) (void)!write(STDOUT_FILENO, leave, sizeof leave - 1);
    other_page = false;
}

/* Keys come one by one and are not shown; ^C still is a signal. */
void screen_open(screen *s) {
    *s = (screen){.on = true, .tty = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    atexit(put_back);
    if (s->tty >= 0 && tcgetattr(s->tty, &usual) == 0) {
        struct termios raw = usual;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        if (tcsetattr(s->tty, TCSANOW, &raw) == 0) changed = s->tty;
    }
    fputs("\033[?1049h\033[?25l", stdout);
    other_page = true;
}

void screen_close(screen *s) {
    if (!s->on) return;
    fflush(stdout);
    put_back();
    if (s->tty >= 0) close(s->tty);
    *s = (screen){.tty = -1, .ended = s->ended};
}

screen_size screen_size_now(void) {
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 4 || size.ws_col < 40)
        return (screen_size){24, 80};
    return (screen_size){size.ws_row, size.ws_col};
}

static void take_arrow(screen *s, char arrow, size_t page) {
    if (arrow == 'A') s->scroll -= s->scroll > 0;
    if (arrow == 'B') s->scroll++;
    if (arrow == '5') s->scroll -= s->scroll < page ? s->scroll : page;
    if (arrow == '6') s->scroll += page;
    if (arrow == 'H') s->scroll = 0;
}

bool screen_keys(screen *s) {
    char keys[64];
    bool any = false;
    const ssize_t n = s->tty < 0 ? 0 : read(s->tty, keys, sizeof keys);
    for (ssize_t i = 0; i < n; i++) {
        any = true;
        if (keys[i] == 'q' || keys[i] == 'Q') s->ended = true;
        if (keys[i] == ' ') s->paused = !s->paused;
        if (keys[i] == '\033' && i + 2 < n && (keys[i + 1] == '[' || keys[i + 1] == 'O')) {
            take_arrow(s, keys[i + 2], screen_size_now().rows - 4);
            i += 2;
        }
    }
    return any;
}

/* Only bytes that the terminal understands. */
static bool knows_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const locale = getenv(names[i]);
        if (locale && *locale) return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

void put_bar(FILE *to, double share, size_t columns) {
    static const char *const parts[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    const bool blocks = knows_utf8();
    double eighths = round(fmin(fmax(share, 0), 1) * (double)columns * 8);
    for (size_t i = 0; i < columns; i++) {
        const double here = fmin(eighths, 8);
        fputs(blocks ? parts[(int)here] : here >= 4 ? "#" : " ", to);
        eighths -= here;
    }
}
