/* plot.c - see plot.h.  Rates are drawn in logarithms if they span more than two powers of ten,
 * else from 0; whatever is below the lowest power shown lies on the axis. */
#include "output/plot.h"
#include <math.h>
#include <string.h>

enum { PLOT_DECADES = 9 };

typedef struct plot_scale {
    bool logs;
    double low, high; /* of the axis: rates, or powers of ten */
} plot_scale;

static plot_scale plot_scale_of(const plot *p, size_t panel) {
    double least = 1, most = 0;
    for (size_t c = 0; c < p->curves; c++)
        for (size_t i = 0; i < p->points; i++) {
            const double y = p->y[panel][c][i];
            if (!(y >= 0)) continue;
            most = fmax(most, y);
            if (y > 0) least = fmin(least, y);
        }
    if (!(most > 0)) return (plot_scale){.logs = false, .low = 0, .high = 1};
    if (most < 100 * least) {
        const double unit = pow(10, floor(log10(most)));
        return (plot_scale){.logs = false, .low = 0, .high = ceil(most / unit) * unit};
    }
    const double high = ceil(log10(most) - 1e-9);
    return (plot_scale){true, fmax(floor(log10(least)), high - PLOT_DECADES), high};
}

/* 0 at the bottom, 1 at the top. */
static double plot_height(const plot_scale *s, double y) {
    const double at = s->logs ? (y > 0 ? log10(y) : s->low) : y;
    return fmin(1, fmax(0, (at - s->low) / (s->high - s->low)));
}

static double plot_place(const plot *p, double x) {
    const double low = log(p->x[0]), high = log(p->x[p->points - 1]);
    return high > low ? (log(x) - low) / (high - low) : 0;
}

/* The label of a share of the height. */
static const char *plot_label(const plot_scale *s, double share, char text[32]) {
    const double at = s->low + (s->high - s->low) * share;
    if (s->logs)
        snprintf(text, 32, at == 0 ? "1" : "1e%.0f", at);
    else
        human_number(text, at);
    return text;
}

static const char *plot_x_label(const plot *p, double x, char text[32]) {
    return p->x_bytes ? human_bytes(text, x) : human_number(text, x);
}

/* ---- The terminal. */

enum { PLOT_COLUMNS = 64, PLOT_ROWS = 13 };
typedef struct plot_canvas {
    unsigned char dots[PLOT_ROWS][PLOT_COLUMNS]; /* of a braille character */
    unsigned char curve[PLOT_ROWS][PLOT_COLUMNS];
} plot_canvas;

static void plot_dot(plot_canvas *canvas, double x, double y, size_t curve) {
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const size_t column = (size_t)(x * (2 * PLOT_COLUMNS - 1) + 0.5);
    const size_t row = (size_t)((1 - y) * (4 * PLOT_ROWS - 1) + 0.5);
    canvas->dots[row / 4][column / 2] |= bits[row % 4][column % 2];
    canvas->curve[row / 4][column / 2] = (unsigned char)curve;
}

static void plot_curve(plot_canvas *canvas, const plot *p, const plot_scale *s, size_t panel,
                       size_t curve) {
    enum { STEPS = 8 };
    const double *const y = p->y[panel][curve];
    for (size_t i = 0; i < p->points; i++) {
        const size_t next = i + 1 < p->points ? i + 1 : i;
        if (!(y[i] >= 0) || !(y[next] >= 0)) continue;
        for (int j = 0; j < STEPS; j++) {
            const double part = (double)j / STEPS;
            const double x = plot_place(p, p->x[i]) * (1 - part) + plot_place(p, p->x[next]) * part;
            const double h = plot_height(s, y[i]) * (1 - part) + plot_height(s, y[next]) * part;
            plot_dot(canvas, x, h, curve);
        }
    }
}

static void plot_braille(FILE *to, unsigned char dots) { /* U+2800 and the dots, as UTF-8 */
    fputc(0xe2, to);
    fputc(0xa0 | dots >> 6, to);
    fputc(0x80 | (dots & 0x3f), to);
}

static const int plot_colours[PLOT_CURVES] = {34, 31, 32, 35, 36, 33};

static void plot_panel(const plot *p, FILE *to, size_t panel, size_t first, size_t last,
                       bool colour) {
    const plot_scale s = plot_scale_of(p, panel);
    plot_canvas canvas = {{{0}}, {{0}}};
    char label[32], left[32], right[32];
    for (size_t c = first; c < last; c++) plot_curve(&canvas, p, &s, panel, c);
    /* A power of ten is at its place, which need not be the middle. */
    const double middle = s.logs ? round((s.high - s.low) / 2) / (s.high - s.low) : 0.5;
    const size_t middle_row = (size_t)((1 - middle) * (PLOT_ROWS - 1) + 0.5);
    for (size_t row = 0; row < PLOT_ROWS; row++) {
        const bool named = row == 0 || row == middle_row || row + 1 == PLOT_ROWS;
        const double share = row == middle_row ? middle : row == 0 ? 1 : 0;
        fprintf(to, "%8s │", named ? plot_label(&s, share, label) : "");
        for (size_t column = 0; column < PLOT_COLUMNS; column++) {
            const unsigned char dots = canvas.dots[row][column];
            if (dots && colour) fprintf(to, "\033[%dm", plot_colours[canvas.curve[row][column]]);
            if (dots)
                plot_braille(to, dots);
            else
                fputc(' ', to);
            if (dots && colour) fputs("\033[0m", to);
        }
        fputc('\n', to);
    }
    fprintf(to, "%8s └", "");
    for (size_t column = 0; column < PLOT_COLUMNS; column++) fputs("─", to);
    plot_x_label(p, p->x[0], left);
    plot_x_label(p, p->x[p->points - 1], right);
    fprintf(to, "\n%10s%s%*s  %s\n", "", left, PLOT_COLUMNS - (int)strlen(left), right, p->x_name);
}

void plot_terminal(const plot *p, FILE *to, bool colour) {
    const bool together = colour || p->curves == 1;
    for (size_t panel = 0; panel < PLOT_PANELS; panel++)
        for (size_t c = 0; c < (together ? 1 : p->curves); c++) {
            fprintf(to, "%s%s%s\n", p->panel[panel], together ? "" : ": ",
                    together ? "" : p->curve[c]);
            plot_panel(p, to, panel, together ? 0 : c, together ? p->curves : c + 1, colour);
        }
    for (size_t c = 0; c < p->curves && together; c++)
        if (colour)
            fprintf(to, "%9s \033[%dm━━\033[0m %s\n", "", plot_colours[c], p->curve[c]);
        else
            fprintf(to, "%9s %s\n", "", p->curve[c]);
}

/* ---- SVG. */

enum {
    SVG_WIDTH = 400,
    SVG_HEIGHT = 240,
    SVG_LEFT = 60,
    SVG_TOP = 34,
    SVG_BETWEEN = 84,
    SVG_LINE = 18
};
static const char *const svg_colours[PLOT_CURVES] = {"#1f5fbf", "#c8371f", "#1f8a3c",
                                                     "#8a3fb0", "#0f8a8a", "#b07a00"};
static const char *const svg_dashes[PLOT_CURVES] = {"none", "7 3", "2 3", "9 3 2 3", "12 4", "4 4"};

static void svg_text(FILE *to, double x, double y, const char *anchor, const char *text) {
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fprintf(to, "&#%d;", *text);
        else
            fputc(*text, to);
    fputs("</text>\n", to);
}

static void svg_axes(const plot *p, FILE *to, const plot_scale *s, double x0, const char *title) {
    enum { MARKS = 4 };
    const int marks = s->logs && s->high - s->low < 6 ? (int)(s->high - s->low) : MARKS;
    char label[32];
    svg_text(to, x0 + SVG_WIDTH / 2., SVG_TOP - 12, "middle", title);
    for (int i = 0; i <= marks; i++) {
        double share = (double)i / marks;
        if (s->logs) share = round(share * (s->high - s->low)) / (s->high - s->low);
        const double y = SVG_TOP + SVG_HEIGHT * (1 - share);
        fprintf(to, "<path class=\"grid\" d=\"M%.1f %.1fh%d\"/>\n", x0, y, SVG_WIDTH);
        svg_text(to, x0 - 6, y + 4, "end", plot_label(s, share, label));
    }
    for (int i = 0; i <= MARKS; i++) {
        const double x = p->x[0] * pow(p->x[p->points - 1] / p->x[0], (double)i / MARKS);
        svg_text(to, x0 + (double)SVG_WIDTH * i / MARKS, SVG_TOP + SVG_HEIGHT + 18, "middle",
                 plot_x_label(p, x, label));
    }
    svg_text(to, x0 + SVG_WIDTH / 2., SVG_TOP + SVG_HEIGHT + 36, "middle", p->x_name);
}

static void svg_curve(const plot *p, FILE *to, const plot_scale *s, size_t panel, size_t c,
                      double x0) {
    bool down = false;
    fprintf(to, "<path class=\"curve\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"", svg_colours[c],
            svg_dashes[c]);
    for (size_t i = 0; i < p->points; i++) {
        const double y = p->y[panel][c][i];
        if (y >= 0)
            fprintf(to, "%c%.1f %.1f", down ? 'L' : 'M', x0 + plot_place(p, p->x[i]) * SVG_WIDTH,
                    SVG_TOP + SVG_HEIGHT * (1 - plot_height(s, y)));
        down = y >= 0;
    }
    fputs("\"/>\n", to);
}

void plot_svg(const plot *p, FILE *to) {
    const int width = PLOT_PANELS * (SVG_WIDTH + SVG_BETWEEN) + 12;
    const int legend = SVG_TOP + SVG_HEIGHT + 58;
    const int height = legend + SVG_LINE * (int)p->curves + 6;
    fprintf(
        to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\">\n<style>text{font:13px sans-serif;fill:#333}.grid{stroke:#ddd;fill:none}"
        ".curve{fill:none;stroke-width:2}.paper{fill:#fff}</style>\n"
        "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n",
        width, height, width, height, width, height);
    for (size_t panel = 0; panel < PLOT_PANELS; panel++) {
        const plot_scale s = plot_scale_of(p, panel);
        const double x0 = SVG_LEFT + (double)panel * (SVG_WIDTH + SVG_BETWEEN);
        svg_axes(p, to, &s, x0, p->panel[panel]);
        for (size_t c = 0; c < p->curves; c++) svg_curve(p, to, &s, panel, c, x0);
    }
    for (size_t c = 0; c < p->curves; c++) {
        const double y = legend + SVG_LINE * (double)c;
        fprintf(to,
                "<path class=\"curve\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"M%d %.1fh36\"/>\n",
                svg_colours[c], svg_dashes[c], SVG_LEFT, y);
        svg_text(to, SVG_LEFT + 44, y + 4, "start", p->curve[c]);
    }
    fputs("</svg>\n", to);
}
