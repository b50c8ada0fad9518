# 000-horizon.gp - what is forgotten at equal FPR, against the gap, by planned filters.
load plots."/style.gp"
set output out
names = "SBF 'SBF sweep' 'MC linear' 'MC linear sweep' HB 'MC planned' 'MC planned sweep'"
marks = "lines ls i"
foot = 0.1
rows(f) = sprintf("< awk -F, '$1==\"%s\"' %s", f, data)
set multiplot layout 1,2 title heading font ",15" margins 0.08,0.98,0.25,0.84 spacing 0.1
unset key
set xlabel "other keys between a key and its repeat"
set logscale x
set xrange [1000:60000]
set xtics ("1000" 1000, "2000" 2000, "5000" 5000, "10000" 10000, "20000" 20000, "50000" 50000)
set yrange [0:1]
set ylabel "forgotten share"
set title "of all importance" offset 0,-0.5
plot for [i=1:7] rows(word(names, i)) using 2:3 with lines ls i
set title "of keys of importance 50"
plot for [i=1:7] rows(word(names, i)) using 2:4 with lines ls i
eval(legend)
unset multiplot
