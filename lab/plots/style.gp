# style.gp - what all plots share: one colour for each filter, axes, the legend below.
set terminal svg size 960,420 dynamic font "sans-serif,13" background "white"
set datafile separator ","
set border 3 lw 0.8
set tics nomirror
set grid ytics xtics lc rgb "#dddddd" lw 0.6
set style line 1 lc rgb "#888888" lw 2 dt 1
set style line 2 lc rgb "#e69f00" lw 2 dt 1
set style line 3 lc rgb "#56b4e9" lw 2 dt 1
set style line 4 lc rgb "#009e73" lw 2 dt 1
set style line 5 lc rgb "#cc79a7" lw 2 dt 1
set style line 6 lc rgb "#d62728" lw 2.5 dt 1
set style line 7 lc rgb "#1f3fbf" lw 2.5 dt 1
set style line 8 lc rgb "#000000" lw 1.5 dt 2
# The legend: an empty plot over the whole width, at the foot of a multiplot.
legend = "set multiplot previous; unset title; unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset logscale; \
set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0; set tmargin at screen foot; \
set xrange [0:1]; set yrange [0:1]; set key center center horizontal maxrows 1 samplen 2 width 1; \
plot for [i=1:words(names)] NaN with @marks title word(names, i)"
