# 004-codes.gp - Figure 10: bits for a counter against the mean count.
load plots."/style.gp"
set output out
set title heading font ",15"
set key left top Left reverse
set xlabel "mean count of a key"
set ylabel "bits for a counter"
set logscale x
set xrange [1:125]
set yrange [0:9]
plot data using 1:5 with lines ls 2 title "steps", data using 1:4 with lines ls 3 title "Elias", \
    data using 1:6 with lines ls 6 title "digits, as in line", data using 1:3 with lines ls 4 title "entropy", \
    data using 1:2 with lines ls 8 title "log C"
