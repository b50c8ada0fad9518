# 000-arrays.gp - Figures 10-17: false positives and false negatives by importance, 30 % repeats.
load plots."/style.gp"
set terminal svg size 960,1000 dynamic font "sans-serif,13" background "white"
set output out
names = "'BF, 16 KB' 'BF, 43690 bits' SBF 2C MC H HB"
keys = "BF BF/3 SBF 2C MC H HB"
marks = "linespoints ls i pt 7 ps 0.4"
foot = 0.05
rows(l, f) = sprintf("< awk -F, '$1==\"%s\" && $2==30 && $3==\"%s\"' %s", l, f, data)
set multiplot layout 3,2 title heading font ",15" margins 0.08,0.98,0.11,0.93 spacing 0.1,0.09
unset key
set xlabel "importance"
set xrange [0:50]
set yrange [0:100]
array law[3] = ["equal", "proportional", "inverse"]
array title[3] = ["every importance equally often", "importance occurs in proportion to itself", \
    "in inverse proportion"]
do for [l=1:3] {
    set title title[l] offset 0,-0.5
    set ylabel "FP, % of distinct queries"
    plot for [i=1:7] rows(law[l], word(keys, i)) using 4:8 with @marks
    set ylabel "FN, % of repeated queries"
    plot for [i=1:7] rows(law[l], word(keys, i)) using 4:9 with @marks
}
eval(legend)
unset multiplot
