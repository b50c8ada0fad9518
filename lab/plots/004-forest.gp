# 004-forest.gp - Figure 7: counts shaped like the forest's elevations, and errors.
load plots."/style.gp"
set output out
names = "MS MI RM RM-X"
array style[4] = [1, 2, 3, 6]
marks = "linespoints ls style[i] pt 7 ps 0.4"
foot = 0.1
rows(f) = sprintf("< awk -F, '$1==\"%s\"' %s", f, data)
set multiplot layout 1,3 title heading font ",15" margins 0.07,0.98,0.25,0.88 spacing 0.09
unset key
set xlabel "elevation, m"
set ylabel "records"
set xtics 500
plot rows("count") using 2:3 with lines ls 8 dt 1
set xlabel "gamma"
set xtics 0.5
set format y "%g"
set logscale y
set yrange [0.0001:1.2]
set ylabel "share of wrong counts, E_{ratio}"
plot for [i=1:4] rows(word(names, i)) using 2:3 with linespoints ls style[i] pt 7 ps 0.4
set yrange [0.01:1000]
set ylabel "root of the mean square error, E_{add}"
plot for [i=1:4] rows(word(names, i)) using 2:4 with linespoints ls style[i] pt 7 ps 0.4
eval(legend)
unset multiplot
