# Yang et al. 2015, Figure 10: the error on many others while poses are added, with and without expectation adjustment.
load '< supple-plot --style png --size 1000x600'
set output target
set title 'Error of the force while the training grows, 105 elements'
set xlabel 'poses T'
set ylabel measure
set yrange [0:]
set format y '%g'
set datafile separator whitespace
set key maxcols 2
plot source using 1:2 with linespoints linetype 1 pointtype 7 title 'poses about rest', \
     '' using 1:3 with linespoints linetype 2 pointtype 5 title 'expectation adjustment', \
     '' using 1:4 with lines linetype 1 dashtype 2 title 'mean fitting error, about rest', \
     '' using 1:5 with lines linetype 2 dashtype 2 title 'mean fitting error, adjusted'
