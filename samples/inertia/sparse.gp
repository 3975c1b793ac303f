# Figure 5: error of sparse inner products over the number of sample points.
load '< supple-plot --style png --size 1000x600'
set output target
set datafile separator ','
set datafile missing NaN
set title 'Sparse inner products of 240 inertia modes against those in the mass'
set xlabel 'sample points, at least'
set ylabel 'error'
set logscale xy
set format y '10^{%T}'
set termoption enhanced
set key inside top right vertical opaque
set yrange [1e-3:1]
set xrange [40:6000]
plot 'out/sparse.csv' using 'samples':'mean_relative' with linespoints linetype 1 pointtype 7 title 'relative, mean of all pairs with |cos| ≥ 0.001', \
     '' using 'samples':'median_relative' with linespoints linetype 2 pointtype 5 title 'relative, median', \
     '' using 'samples':'mean_cosine' with linespoints linetype 3 pointtype 9 title 'of cosines, mean'
