# 001-skew.gp - improvement over a plain filter against the skew of the queries.
load plots."/style.gp"
set output out
names = "'eq. (5)' corrected"
marks = "lines ls (i == 1 ? 2 : 7)"
foot = 0.1
rows(t) = sprintf("< awk -F, '$1==\"%s\"' %s", t, data)
set multiplot layout 1,4 title heading font ",15" margins 0.07,0.98,0.27,0.8 spacing 0.03
unset key
set xlabel "skew s of the queries"
set xrange [0:1.3]
set logscale y
set yrange [0.2:50]
set ytics (0.2, 0.5, 1, 2, 5, 10, 20, 50)
set arrow from 0,1 to 1.3,1 nohead lc rgb "#000000" lw 1 dt 2
array t[4] = ["1", "0", "-0.5", "-1"]
array title[4] = ["popular keys seldom members\n(t = 1)", "all equally likely members\n(t = 0)", \
    "popular keys often members\n(t = -1/2)", "popular keys mostly members\n(t = -1)"]
set ylabel "times fewer false positives"
set format y "%g"
do for [i=1:4] {
    set title title[i] offset 0,-0.5
    plot rows(t[i]) using 2:3 with lines ls 2, rows(t[i]) using 2:4 with lines ls 7
    unset ylabel
    set format y ""
}
unset arrow
eval(legend)
unset multiplot
