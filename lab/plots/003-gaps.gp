# 003-gaps.gp - false negatives against false positives on five endless streams.
load plots."/style.gp"
set terminal svg size 960,1180 dynamic font "sans-serif,13" background "white"
set output out
names = "'SBF 1 bit' 'SBF 2 bits' 'stable (sweep)' BSBF RLBSBF 'lru line' 'lru word' bound"
marks = "linespoints ls i pt (i <= 7 ? 7 : -1) ps 0.5"
foot = 0.05
rows(s, f) = sprintf("< awk -F, '$1==%d && $2==\"%s\"' %s", s, f, data)
set multiplot layout 3,2 title heading font ",15" margins 0.08,0.98,0.1,0.94 spacing 0.1,0.1
unset key
set xlabel "false positives, %"
set ylabel "false negatives, %"
set logscale x
set format x "%g"
set xrange [0.3:20]
set xtics (0.5, 1, 2, 5, 10, 20)
array title[5] = ["uniform gaps up to 2.5e7 records", "uniform gaps up to 1e8", "exponential gaps, mean 1.25e7", \
    "Pareto gaps, a = 1, from 2.5e5", "Pareto gaps, a = 0.5, from 2.5e5"]
do for [s=1:5] {
    set title title[s] offset 0,-0.5
    if (s == 4) { set logscale y; set format y "%g"; set yrange [0.1:20] } else { unset logscale y; set yrange [0:*] }
    plot for [i=1:8] rows(s, word(names, i)) using 3:4 with @marks
}
eval(legend)
unset multiplot
