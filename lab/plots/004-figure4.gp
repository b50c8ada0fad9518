# 004-figure4.gp - false answers to iceberg queries against the threshold: formula and measured.
load plots."/style.gp"
set output out
set multiplot layout 1,2 title heading font ",15" margins 0.08,0.98,0.27,0.85 spacing 0.09
names = "'skew 0' 'skew 0.2' 'skew 0.6' 'skew 1' 'skew 1.4'"
marks = "lines ls i + 1"
foot = 0.1
array skew[5] = ["0", "0.2", "0.6", "1", "1.4"]
rows(s) = sprintf("< awk -F, '$1==\"%s\"' %s", s, data)
unset key
set xlabel "threshold"
set xrange [0:300]
set ylabel "false answers, share of all keys"
set title "minimum selection: formula (lines), measured (points)" offset 0,-0.5
set yrange [0:0.11]
plot for [i=1:5] rows(skew[i]) using 2:3 with lines ls i + 1, \
    for [i=1:5] rows(skew[i]) using 2:4 with points ls i + 1 pt 7 ps 0.4
set title "minimal increase, measured" offset 0,-0.5
set yrange [0:0.04]
unset ylabel
plot for [i=1:5] rows(skew[i]) using 2:5 with linespoints ls i + 1 pt 7 ps 0.4
eval(legend)
unset multiplot
