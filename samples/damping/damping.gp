# Amplitude left after a period, and its length, over steps in a period: gnuplot -c damping.gp KIND WIDTH HEIGHT DAMPING.csv PICTURE. Lines: closed form.
load sprintf('< supple-plot --style %s --size %sx%s', ARG1, ARG2, ARG3)
set termoption enhanced
set output ARG5
set datafile separator ','
schemes = 'newmark50 newmark55 newmark60 newmark75 euler'
titles = '"Newmark, {/Symbol g} = 0.5" "0.55" "0.6" "0.75" "implicit Euler"'
rows(i) = sprintf("< awk -F, '$1 == \"%s\"' %s", word(schemes, i), ARG4)
set logscale x
set xrange [2.8:110]
set xtics (3, 5, 10, 20, 50, 100)
set xlabel 'steps in a period'
set multiplot layout 1, 2
unset key
set yrange [0:1.05]
set ylabel 'amplitude after a period'
plot for [i = 1:5] rows(i) using 2:5 with lines linetype i, for [i = 1:5] rows(i) using 2:3 with points linetype i pointtype i
set key inside top right vertical maxrows 5
set yrange [0.95:1.7]
set ylabel 'period relative to the exact one'
plot for [i = 1:5] rows(i) using 2:6 with lines linetype i title word(titles, i), \
     for [i = 1:5] rows(i) using 2:4 with points linetype i pointtype i notitle
unset multiplot
