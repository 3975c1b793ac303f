# Where the elements of cubature lie in the arm, seen from the side; circles as large as their weights.
load '< supple-plot --style png --size 1200x460'
set output target
set title 'The arm from the side: elements of cubature at 1 %, area by weight'
set xlabel 'x [m]'
set ylabel 'z [m]'
set size ratio -1
set xrange [-0.01:0.51]
set yrange [-0.07:0.07]
set datafile separator ' '
plot 'out/elements.dat' using 1:2 with points pointtype 5 pointsize 0.5 linecolor rgb '#E4D2C4' title 'elements', \
     "<awk '$4 == 3' out/elements.dat" using 1:2 with points pointtype 5 pointsize 1.4 linecolor rgb '#B0B0B0' title 'bones', \
     "<awk '$3 > 0' out/elements.dat" using 1:2:(0.0012 * sqrt($3)) with circles linetype 1 fill transparent solid 0.45 border title 'chosen'
