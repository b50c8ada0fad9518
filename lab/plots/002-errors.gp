# 002-errors.gp - how far estimates are too high, against the decay factor.
load plots."/style.gp"
set output out
names = "plain conservative"
marks = "lines ls (i == 1 ? 2 : 7)"
foot = 0.1
rows(c) = sprintf("< awk -F, '$1==%s' %s", c, data)
set multiplot layout 1,2 title heading font ",15" margins 0.09,0.98,0.26,0.83 spacing 0.04
unset key
set xlabel "mean memory, 1/(1 - factor) epochs"
set logscale xy
set xrange [2:34]
set xtics (2, 5, 10, 20, 33)
set yrange [0.005:20]
set ytics ("0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10)
set ylabel "mean error, arrivals"
array cells[2] = ["3", "6"]
do for [i=1:2] {
    set title cells[i]." counters a key" offset 0,-0.5
    plot rows(cells[i]) using (1/(1-$2)):3 with lines ls 2, \
         rows(cells[i]) using (1/(1-$2)):4 with lines ls 7
    unset ylabel
    set ytics ("" 0.01, "" 0.1, "" 1, "" 10)
}
eval(legend)
unset multiplot
