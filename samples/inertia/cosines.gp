# Figure 7: cosines of all pairs, not orthogonalized; and what the reduced method leaves out of its own.
set output target
set terminal pngcairo noenhanced size 1200,520 font 'sans,12'
set multiplot layout 1,2
set title 'All pairs of 240 inertia modes, not orthogonalized' font ',13'
set xlabel 'cosine in the mass metric'
set ylabel 'pairs'
set xrange [-1:1]
set yrange [0:*]
set ytics 2000
set style fill solid 0.6 border
set boxwidth 2.0 / 41
set key top center opaque
plot 'out/histogram.csv' using 'cosine':'pairs' with boxes linetype 1 linewidth 1 title 'pairs', \
     '' using 'cosine':'normal' with lines linetype 2 title 'normal distribution'
set title 'Subtractions that the reduced mass-MGS leaves out' font ',13'
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
