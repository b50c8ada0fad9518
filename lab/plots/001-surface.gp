# 001-surface.gp - Figure 1: improvement of two classes over alpha and c, as contours and cuts.
load plots."/style.gp"
set output out
levels = "20 50 100 200 300 380"
stem = data.".contours"
set contour base
set cntrparam levels discrete 20, 50, 100, 200, 300, 380
set dgrid3d 100,100
unset surface
set table stem
splot data using 1:2:3
unset table
unset dgrid3d
set palette defined (0 "#440154", 0.25 "#3b528b", 0.5 "#21918c", 0.75 "#5ec962", 1 "#d6c616")
unset colorbox
set multiplot layout 1,2 title heading font ",15" margins 0.09,0.97,0.14,0.82 spacing 0.1
set xlabel "alpha: share of hot keys"
set xrange [0:1]
set title "contours of the improvement" offset 0,-0.5
set ylabel "c: how much hotter"
set yrange [0:10000]
set datafile separator whitespace
set key inside right top samplen 2
plot for [i=1:6] stem index 6-i using 1:2 with lines lw 2 lc palette frac ((i-1)/5.0) title word(levels, i)
set title "cuts"
set ylabel "times fewer false positives"
set yrange [0:420]
set datafile separator ","
cuts = "10000 5051 2021 1011 102"
plot for [i=1:5] sprintf("< awk -F, '$2==%s' %s", word(cuts, i), data) using 1:3 with lines \
     lw 2 lc palette frac (1-(i-1)/5.0) title "c = ".word(cuts, i)
unset multiplot
