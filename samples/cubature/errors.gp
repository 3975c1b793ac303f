# Velocity error of a motion over the number of elements: cubature against all forces, projected on the same basis.
load '< supple-plot --style png --size 1000x680'
set output target
set title 'The arm: error of the motion over the number of elements'
set xlabel 'elements'
set ylabel 'velocity error against all forces, projected'
set logscale xy
set format y '%g'
set datafile separator ' '
set datafile missing '-'
set key maxcols 2
curve(name) = "<awk '/^" . name . "-/ && $8 != \"-\"' out/errors.dat"
plot curve('force') using 2:8 with linespoints linetype 1 pointtype 7 title 'metric force, linear sampled (papers)', \
     curve('energy') using 2:8 with linespoints linetype 3 pointtype 5 title 'metric energy, linear sampled', \
     curve('exact') using 2:8 with linespoints linetype 2 pointtype 9 title 'metric energy, linear exact', \
     curve('random') using 2:8 with linespoints linetype 4 pointtype 13 title 'random poses, metric force, linear sampled', \
     basis with lines linetype 5 dashtype 2 linewidth thick / 2 title 'error of the basis, against the full simulation'
