# The largest relative error of three frequencies: gnuplot -c errors.gp KIND WIDTH HEIGHT ERRORS.csv PICTURE. Types of first order are dashed.
load sprintf('< supple-plot --style %s --size %sx%s', ARG1, ARG2, ARG3)
set termoption enhanced
set output ARG5
set datafile separator ','
types = 'tet wedge6 hex hex8b hex8i tet10 wedge15 wedge18 hex20 hex20r hex27'
colour = '2 1 3 4 5 2 1 7 3 4 5'
dash(i) = i <= 5 ? 3 : 1
points(i) = sprintf("< awk -F, '$1 == \"%s\"' %s", word(types, i), ARG4)
set logscale xy
set format '10^{%T}'
set yrange [1e-4:10]
set key at screen 0.99, screen 0.96 top right vertical maxrows 11
set multiplot layout 1, 2 margins 0.1, 0.85, 0.17, 0.96 spacing 0.08
set ylabel 'largest error of three frequencies'
set xlabel 'degrees of freedom'
plot for [i = 1:11] points(i) using 2:7 with linespoints linetype word(colour, i) + 0 dashtype dash(i) pointtype i title word(types, i)
unset key
unset ylabel
set xlabel 'processor time [s]'
set xrange [5e-3:1]
plot for [i = 1:11] points(i) using 3:7 with linespoints linetype word(colour, i) + 0 dashtype dash(i) pointtype i
unset multiplot
