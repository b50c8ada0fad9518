# 000-gaps.gp - false negatives of MC by class against the gap: random deletion and sweep.
load plots."/style.gp"
set output out
names = "'class 1' 2 3 4 5 6 7"
marks = "lines lw 2 lc palette frac ((i-1)/6.0)"
foot = 0.1
set palette defined (0 "#440154", 0.25 "#3b528b", 0.5 "#21918c", 0.75 "#5ec962", 1 "#d6c616")
unset colorbox
rows(w, c) = sprintf("< awk -F, '$1==\"%s\" && $2==%d' %s", w, c, data)
set multiplot layout 1,2 title heading font ",15" margins 0.08,0.98,0.25,0.84 spacing 0.1
unset key
set xlabel "other keys between a key and its repeat"
set ylabel "false negatives"
set logscale x
set xrange [300:60000]
set xtics ("500" 500, "1000" 1000, "2000" 2000, "5000" 5000, "10000" 10000, "20000" 20000, "50000" 50000)
set yrange [0:0.7]
set title "random deletion, FPR 37 %" offset 0,-0.5
plot for [i=1:7] rows("random", i) using 3:4 with @marks, \
     for [i=1:7] rows("measured", i) using 3:4 with points pt 7 ps 0.5 lc palette frac ((i-1)/6.0)
set title "sweep, FPR 38 %"
plot for [i=1:7] rows("sweep", i) using 3:4 with @marks
eval(legend)
unset multiplot
