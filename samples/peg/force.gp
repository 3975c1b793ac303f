# gnuplot -c force.gp OUT.png: as Figure 3.28: force, its error, nodes and the level, with all levels and with thresholds.
set encoding utf8
set terminal pngcairo noenhanced size 1000,1000 font 'sans,11'
set output ARG1
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set xrange [0:5]
set style data lines
array runs[3] = ['all', '2000', '600']
array titles[3] = ['all levels', 'warm 2000', 'warm 600']
array colours[3] = ['#000000', '#0072B2', '#D55E00']
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
set multiplot layout 4, 1 title 'A peg in its hole, 128,000 points in five levels' margins 0.09, 0.98, 0.06, 0.94 spacing 0.05, 0.04
set format x ''
set key top left
set ylabel 'force on the hand [N]'
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) \
    linewidth 1.5 linecolor rgb colours[i] title titles[i]
set ylabel 'points in contact'
set logscale y
set yrange [1:*]
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'touching' linewidth 1.5 linecolor rgb colours[i] title titles[i]
set ylabel 'nodes visited'
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'visited' linewidth 1.5 linecolor rgb colours[i] title titles[i]
unset logscale y
set yrange [0:5.5]
set ytics 1
set ylabel 'level'
set xlabel 'time [s]'
set format x '%g'
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'level' linewidth 1.5 linecolor rgb colours[i] title titles[i]
unset multiplot
