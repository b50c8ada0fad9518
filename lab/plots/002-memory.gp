# 002-memory.gp - bits a counter against the decay factor, for layouts of counters.
load plots."/style.gp"
set output out
names = "basic 'optimised without links' 'optimised' '4 bits + table' '8 bits + table'"
marks = "lines ls (i == 1 ? 1 : i == 2 ? 8 : i == 3 ? 6 : i == 4 ? 2 : 7)"
foot = 0.1
rows(z) = sprintf("< awk -F, '$1==\"%s\"' %s", z, data)
set multiplot layout 1,3 title heading font ",15" margins 0.07,0.98,0.26,0.83 spacing 0.04
unset key
set xlabel "decay factor"
set xrange [0.4:0.96]
set yrange [0:28]
set ylabel "bits a counter"
array z[3] = ["0.8", "1.0", "1.2"]
do for [i=1:3] {
    set title "Zipf ".z[i] offset 0,-0.5
    plot 16 with lines ls 1, rows(z[i]) using 2:($6 <= 0.5 ? 7 : NaN) with lines ls 8, \
         rows(z[i]) using 2:3 with lines ls 6, rows(z[i]) using 2:4 with lines ls 2, \
         rows(z[i]) using 2:5 with lines ls 7
    unset ylabel
    set format y ""
}
eval(legend)
unset multiplot
