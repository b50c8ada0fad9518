# 003-tradeoff.gp - false negatives against false positives in four cells of Tables 4-9.
load plots."/style.gp"
set terminal svg size 960,860 dynamic font "sans-serif,13" background "white"
set output out
names = "SBF RSBF BSBF BSBFSD RLBSBF choosy bound"
marks = "linespoints ls (i <= 6 ? i : 8) pt (i <= 6 ? 7 : -1) ps (i <= 2 ? 1 : 0.5)"
foot = 0.06
rows(c, f) = sprintf("< awk -F, '$1==\"%s\" && $2==\"%s\"' %s", c, f, data)
set multiplot layout 2,2 title heading font ",15" margins 0.08,0.98,0.13,0.91 spacing 0.1,0.14
unset key
set xlabel "false positives, %"
set ylabel "false negatives, %"
set logscale x
set format x "%g"
set xtics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
set yrange [0:80]
array cells[4] = ["4-64", "5-128", "9-256", "9-64"]
array title[4] = ["Table 4, 64 MB: 15 % distinct, 5.15 bits a key", \
    "Table 5, 128 MB: 60 % distinct, 2.57 bits a key", \
    "Table 9, 256 MB: 90 % distinct, 2.39 bits a key", "Table 9, 64 MB: 90 % distinct, 0.60 bits a key"]
array low[4] = [0.1, 1, 1, 4]
array high[4] = [10, 20, 20, 60]
do for [c=1:4] {
    set title title[c] offset 0,-0.5
    set xrange [low[c]:high[c]]
    plot for [i=1:7] rows(cells[c], word(names, i)) using 3:4 with @marks
}
eval(legend)
unset multiplot
