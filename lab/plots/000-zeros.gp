# 000-zeros.gp - Figure 18: zero cells against arrivals, predicted (lines) and measured (dots).
load plots."/style.gp"
set output out
names = "'BF, 16 KB' 'BF, 43690 bits' SBF 2C MC H HB"
keys = "BF BF/3 SBF 2C MC H HB"
marks = "lines ls i"
foot = 0.1
rows(f) = sprintf("< awk -F, '$1==\"%s\"' %s", f, data)
few(f) = sprintf("< awk -F, '$1==\"%s\" && ($2<=20000 && $2%%4000==0 || $2%%20000==0)' %s", f, data)
set multiplot layout 1,1 title heading font ",15" margins 0.09,0.96,0.25,0.9
unset key
set xlabel "arrivals"
set ylabel "share of the cells that are 0"
set logscale x
set xrange [2000:200000]
set xtics ("2000" 2000, "5000" 5000, "10000" 10000, "20000" 20000, "50000" 50000, "100000" 100000, "200000" 200000)
set yrange [0:1]
plot for [i=1:7] rows(word(keys, i)) using 2:4 with lines ls i, \
     for [i=1:7] few(word(keys, i)) using 2:3 with points ls i pt 7 ps 0.5
eval(legend)
unset multiplot
