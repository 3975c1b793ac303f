# Figure 7: cosines of all pairs, not orthogonalized; and what the reduced method leaves out of its own.
load '< supple-plot --style png --size 1200x520'
set output target
set datafile separator ','
set datafile missing NaN
set multiplot layout 1,2
set title 'All pairs of 240 inertia modes, not orthogonalized'
set xlabel 'cosine in the mass metric'
set ylabel 'pairs'
set xrange [-1:1]
set yrange [0:*]
set ytics 2000
set style fill solid 0.6 border
set boxwidth 2.0 / 41
set key inside top center vertical opaque
plot 'out/histogram.csv' using 'cosine':'pairs' with boxes linetype 1 linewidth thick / 3 title 'pairs', \
     '' using 'cosine':'normal' with lines linetype 2 title 'normal distribution'
set title 'Subtractions that the reduced mass-MGS leaves out'
set xlabel 'culling threshold'
set ylabel 'of all pairs [%]'
set xrange [0.001:1]
set yrange [0:100]
set ytics 20
set logscale x
unset key
plot 'out/orthogonality.csv' using (strcol('how') eq 'reduced' ? column('culling') : NaN):(100.0 * column('culled') / (column('culled') + column('subtractions'))) \
    with linespoints linetype 1 pointtype 7
unset multiplot
