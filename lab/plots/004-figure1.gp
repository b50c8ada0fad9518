# 004-figure1.gp - Figure 1: the report's bound on expected relative errors, by rank.
load plots."/style.gp"
set output out
set title heading font ",15"
set key right bottom Left reverse
set xlabel "rank of the key"
set ylabel "relative error, given an error"
set logscale xy
set format y "10^{%L}"
skews = "0.2 0.6 1 1.4 1.8 2"
rows(s) = sprintf("< awk -F, '$1==\"%s\"' %s", s, data)
plot for [i=1:6] rows(word(skews, i)) using 2:3 with lines ls i title "skew ".word(skews, i)
