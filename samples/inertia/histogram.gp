# Figure 7 for another body: cosines of all pairs, not orthogonalized.
load '< supple-plot --style png --size 640x520'
set output target
set datafile separator ','
set title 'All pairs of 240 inertia modes: '.body
set xlabel 'cosine in the mass metric'
set ylabel 'pairs'
set xrange [-1:1]
set yrange [0:*]
set style fill solid 0.6 border
set boxwidth 2.0 / 41
set key inside top center vertical opaque
plot source using 'cosine':'pairs' with boxes linetype 1 linewidth thick / 3 title 'pairs', \
     '' using 'cosine':'normal' with lines linetype 2 title 'normal distribution'
