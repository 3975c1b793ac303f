# How far off the force of the weighted elements is along the motion: estimated by the nested weights, and in truth.
load '< supple-plot --style png --size 1000x600'
set output target
set datafile separator ','
set datafile missing NaN
set title 'Error of the reduced force along the motion, cubature of 3 %'
set xlabel 'time [s]'
set ylabel 'relative error of the force, force norm'
set logscale y
set format y '%g'
plot 'out/estimates.csv' using 'time':'estimate' with lines linetype 2 title 'estimated by nested weights', \
     'out/estimate.csv' using 'time':'error' with linespoints linetype 1 pointtype 7 pointsize 1.2 title 'true'
