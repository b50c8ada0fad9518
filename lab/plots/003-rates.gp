# 003-rates.gp - Figures 2-10: false positives and false negatives over the stream.
# gnuplot -e "plots='lab/plots'; data='x.csv'; figure=2; heading='...'; out='x.svg'" 003-rates.gp
load plots."/style.gp"
set output out
names = "SBF RSBF BSBF BSBFSD RLBSBF choosy lru"
marks = "lines ls i"
foot = 0.1
rows(f) = sprintf("< awk -F, '$1==%d && $2==\"%s\"' %s", figure, f, data)
floor_(c) = column(c) > 0.01 ? column(c) : 0.01 # smaller rates, and none, are drawn on the lower edge
set multiplot layout 1,2 title heading font ",15" margins 0.09,0.98,0.25,0.88 spacing 0.1
unset key
set xlabel "records, millions"
set format y "%g"
set logscale y
set xrange [0:*]
set yrange [0.01:*]
set ylabel "false positives so far, % of distinct records"
plot for [i=1:7] rows(word(names, i)) using ($3/1e6):(floor_(4)) with lines ls i
set ylabel "false negatives so far, % of repeats"
plot for [i=1:7] rows(word(names, i)) using ($3/1e6):(floor_(5)) with lines ls i
eval(legend)
unset multiplot
