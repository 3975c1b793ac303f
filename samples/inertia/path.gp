# Figure 8: where the snout goes, as seen from the front.
load '< supple-plot --style png --size 800x760'
set output target
set datafile separator ','
set datafile missing NaN
set title 'A force on the head turns about the neck: displacement of the snout'
set xlabel 'sideways [m]'
set ylabel 'vertical [m]'
set size ratio -1
set key maxcols 3
snout(name) = 'out/' . name . '-snout.csv'
plot snout('full') using 's1273_y':'s1273_z' with lines linetype 5 linewidth 2 * thick title 'full simulation', \
     snout('linear') using 's1273_y':'s1273_z' with lines linetype 1 title '(a) 2 inertia modes', \
     snout('first') using 's1273_y':'s1273_z' with lines linetype 3 title '(b) and 3 derivatives', \
     snout('modal') using 's1273_y':'s1273_z' with lines linetype 2 dashtype 2 title '(c) 20 of modes, derivatives', \
     snout('higher') using 's1273_y':'s1273_z' with lines linetype 4 title '(d) 20 up to order 3'
