# Figure 8: where the snout goes, as seen from the front.
set output target
set terminal pngcairo noenhanced size 800,760 font 'sans,12'
set title 'A force on the head turns about the neck: displacement of the snout' font ',14'
set xlabel 'sideways [m]'
set ylabel 'vertical [m]'
set size ratio -1
set key outside bottom center horizontal Left reverse maxcols 3
snout(name) = 'out/' . name . '-snout.csv'
plot snout('full') using 's1273_y':'s1273_z' with lines linetype 5 linewidth 4 title 'full simulation', \
     snout('linear') using 's1273_y':'s1273_z' with lines linetype 1 title '(a) 2 inertia modes', \
     snout('first') using 's1273_y':'s1273_z' with lines linetype 3 title '(b) and 3 derivatives', \
     snout('modal') using 's1273_y':'s1273_z' with lines linetype 2 dashtype 2 title '(c) 20 of modes, derivatives', \
     snout('higher') using 's1273_y':'s1273_z' with lines linetype 4 title '(d) 20 up to order 3'
