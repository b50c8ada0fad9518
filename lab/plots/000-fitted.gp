# 000-fitted.gp - Figures 3-8: what is asked for, false positives and negatives by importance.
load plots."/style.gp"
set terminal svg size 960,1000 dynamic font "sans-serif,13" background "white"
set output out
names = "'BF, 16 KB' 'BF, 43690 bits' SBF 2C MC H HB"
keys = "BF BF/3 SBF 2C MC H HB"
marks = "linespoints ls i pt 7 ps 0.4"
foot = 0.05
rows(s, f) = sprintf("< awk -F, '$1==\"%s\" && $2==\"%s\"' %s", s, f, data)
set multiplot layout 3,2 title heading font ",15" margins 0.08,0.98,0.11,0.93 spacing 0.1,0.09
unset key
set xlabel "importance"
set xrange [0:50]
set yrange [0:100]
array what[3] = ["share of all queries, %", "FP, % of distinct queries", "FN, % of repeated queries"]
array column[3] = [4, 7, 8]
do for [w=1:3] {
    set ylabel what[w]
    do for [s=1:2] {
        set title sprintf("Figure %d: data set %d", 2 + w + 3 * (s - 1), s) offset 0,-0.5
        if (w == 1) {
            plot rows(sprintf("%d", s), "SBF") using 3:4 with boxes ls 1
        } else {
            plot for [i=1:7] rows(sprintf("%d", s), word(keys, i)) using 3:column[w] with @marks
        }
    }
}
eval(legend)
unset multiplot
