/* plot.h - curves: in the terminal, with a dot for each eighth of a character, or as SVG. */
#ifndef EVERBLOOM_PLOT_H
#define EVERBLOOM_PLOT_H
#include "cli.h"

enum { PLOT_POINTS = 96, PLOT_CURVES = 6, PLOT_PANELS = 2 };
typedef struct plot {
    const char *x_name, *panel[PLOT_PANELS]; /* titles */
    bool x_bytes;                            /* x is a size */
    size_t curves, points;
    const char *curve[PLOT_CURVES];
    double x[PLOT_POINTS];                           /* ascending, above 0; drawn in logarithms */
    double y[PLOT_PANELS][PLOT_CURVES][PLOT_POINTS]; /* 0..1; NAN: no point */
} plot;

/* In colour if colour is true; else each curve has a panel of its own. */
void plot_terminal(const plot *p, FILE *to, bool colour);
void plot_svg(const plot *p, FILE *to);
#endif
