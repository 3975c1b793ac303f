# Velocity error over the number of elements, as chosen and exchanged: gnuplot -e "target = 'out/errors.png'" errors.gp
load '< supple-plot --style png --size 900x560'
set output target
set title 'A liver of 22,019 tetrahedra falls: 8 coordinates, few elements'
set xlabel 'elements'
set ylabel 'velocity error [%]'
set logscale y
set key maxcols 2
set xrange [8:32]
set yrange [0.08:20]
plot 'out/table.txt' index 0 using 2:4 with linespoints linetype 1 pointtype 7 title 'least squares', \
    '' index 0 using 2:8 with linespoints linetype 1 pointtype 6 dashtype 2 title 'the same, another motion', \
    '' index 1 using 2:4 with linespoints linetype 2 pointtype 5 title 'exchanged', \
    '' index 1 using 2:8 with linespoints linetype 2 pointtype 4 dashtype 2 title 'the same, another motion', \
    1 with lines linetype 5 linewidth thick / 2 title '1 %'
