# Figure 11: mass-PCA against random projection.
load '< supple-plot --style png --size 1200x560'
set output target
set datafile separator ','
set datafile missing NaN
set termoption enhanced
set multiplot layout 1,2 title '24 inertia modes and 300 derivatives: error of r extracted columns'
set logscale y
set format y '10^{%T}'
set xlabel 'columns r'
set key inside top right vertical
set xrange [0:105]
set key opaque
only(method, value) = strcol('method') eq method ? column(value) : NaN
set title 'mean relative error of a candidate'
plot 'out/extraction.csv' using 'r':(only('random', 'mean')) with points linetype 2 pointtype 6 title 'random projection, 5 seeds', \
     '' using 'r':(only('random', 'mean')) smooth unique with lines linetype 2 title 'their mean', \
     '' using 'r':(only('pca', 'mean')) with linespoints linetype 1 pointtype 7 title 'mass-PCA'
set title 'of the weighed candidates, root of the sum of squares'
plot 'out/extraction.csv' using 'r':(only('random', 'weighed')) with points linetype 2 pointtype 6 title 'random projection, 5 seeds', \
     '' using 'r':(only('random', 'weighed')) smooth unique with lines linetype 2 title 'their mean', \
     '' using 'r':(only('pca', 'weighed')) with linespoints linetype 1 pointtype 7 title 'mass-PCA'
unset multiplot
