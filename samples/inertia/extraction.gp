# Figure 11: mass-PCA against random projection.
set output target
set terminal pngcairo noenhanced size 1200,560 font 'sans,12'
set termoption enhanced
set multiplot layout 1,2 title '24 inertia modes and 300 derivatives: error of r extracted columns' font ',14'
set logscale y
set format y '10^{%T}'
set xlabel 'columns r'
set key top right
set xrange [0:105]
set key opaque
only(method, value) = strcol('method') eq method ? column(value) : NaN
set title 'mean relative error of a candidate' font ',13'
plot 'out/extraction.csv' using 'r':(only('random', 'mean')) with points linetype 2 pointtype 6 title 'random projection, 5 seeds', \
     '' using 'r':(only('random', 'mean')) smooth unique with lines linetype 2 title 'their mean', \
     '' using 'r':(only('pca', 'mean')) with linespoints linetype 1 pointtype 7 title 'mass-PCA'
set title 'of the weighed candidates, root of the sum of squares' font ',13'
plot 'out/extraction.csv' using 'r':(only('random', 'weighed')) with points linetype 2 pointtype 6 title 'random projection, 5 seeds', \
     '' using 'r':(only('random', 'weighed')) smooth unique with lines linetype 2 title 'their mean', \
     '' using 'r':(only('pca', 'weighed')) with linespoints linetype 1 pointtype 7 title 'mass-PCA'
unset multiplot
