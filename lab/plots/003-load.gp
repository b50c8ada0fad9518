# 003-load.gp - Figure 11: the load over the stream, from the data of Figures 3 and 4.
load plots."/style.gp"
set output out
names = "SBF RSBF BSBF BSBFSD RLBSBF"
marks = "lines ls i"
foot = 0.1
rows(n, f) = sprintf("< awk -F, '$1==%d && $2==\"%s\"' %s", n, f, data)
set multiplot layout 1,2 title heading font ",15" margins 0.09,0.98,0.25,0.83 spacing 0.1
unset key
set xlabel "records, millions"
set ylabel "share of the bits that are 1"
set xrange [0:*]
set yrange [0:*]
set title "256 MB" offset 0,-0.5
plot for [i=1:5] rows(3, word(names, i)) using ($3/1e6):6 with lines ls i
set title "512 MB"
plot for [i=1:5] rows(4, word(names, i)) using ($3/1e6):6 with lines ls i
eval(legend)
unset multiplot
