# 004-curves.gp - Figures 6, 8, 9: wrong counts and the size of errors against gamma, k or skew.
load plots."/style.gp"
set output out
lowered = figure eq "8d" || figure eq "9"
names = lowered ? "MS MI- RM RM+Bf* RM-X" : "MS MI RM RM+Bf RM+Bf* RM-X"
array style[6] = [1, 2, 3, 4, 5, 6]
if (lowered) { style[4] = 5; style[5] = 6 }
marks = "linespoints ls style[i] pt 7 ps 0.4"
foot = 0.1
rows(f) = sprintf("< awk -F, '$1==\"%s\" && $2==\"%s\"' %s", figure, f, data)
set multiplot layout 1,2 title heading font ",15" margins 0.09,0.98,0.25,0.88 spacing 0.1
unset key
set xlabel axis
set format y "%g"
set logscale y
set ylabel "share of wrong counts, E_{ratio}"
set yrange [0.0002:1.2]
floor_(c, low) = column(c) > low ? column(c) : low
plot for [i=1:words(names)] rows(word(names, i)) using 3:(floor_(4, 0.0002)) with linespoints ls style[i] pt 7 ps 0.4
set ylabel "root of the mean square error, E_{add}"
set yrange [0.01:500]
plot for [i=1:words(names)] rows(word(names, i)) using 3:(floor_(5, 0.01)) with linespoints ls style[i] pt 7 ps 0.4
eval(legend)
unset multiplot
