# Velocity error over the number of elements, as chosen and exchanged: gnuplot -e "target = 'out/errors.png'" errors.gp
set terminal pngcairo size 900,560 font 'sans,12'
set output target
set title 'A liver of 22,019 tetrahedra falls: 8 coordinates, few elements'
set xlabel 'elements'
set ylabel 'velocity error [%]'
set logscale y
set grid
set key top right
set xrange [8:32]
set yrange [0.08:20]
plot 'out/table.txt' index 0 using 2:4 with linespoints lw 2 pt 6 lc rgb '#888888' title 'least squares', \
    '' index 0 using 2:8 with linespoints lw 1 dt 2 pt 6 lc rgb '#888888' title 'the same, another motion', \
    '' index 1 using 2:4 with linespoints lw 2 pt 7 lc rgb '#c04020' title 'exchanged', \
    '' index 1 using 2:8 with linespoints lw 1 dt 2 pt 7 lc rgb '#c04020' title 'the same, another motion', \
    1 with lines lw 1 lc rgb '#4060a0' title '1 %'
