# gnuplot -c force.gp OUT.png: as Figure 3.28: force, points, nodes and the level, with all levels and with node budgets.
set encoding utf8
set terminal pngcairo enhanced size 1200,1300 font 'sans,16'
set output ARG1
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border 3 linecolor rgb '#404040'
set tics nomirror
set xrange [0:5]
set style data lines
array runs[3] = ['all', '2000', '600']
array colours[3] = ['#000000', '#0072B2', '#D55E00']
array widths[3] = [5, 2.5, 2.5]
array dashes[3] = [1, 1, 2]
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
# The legend is a line of its own above the plots.
set label 1 'all five levels' at screen 0.13, 0.97
set label 2 'node budget 2000' at screen 0.36, 0.97 textcolor rgb '#0072B2'
set label 3 'node budget 600 (dashed)' at screen 0.62, 0.97 textcolor rgb '#D55E00'
unset key
set multiplot layout 4, 1 margins 0.13, 0.97, 0.065, 0.94 spacing 0, 0.03
set format x ''
set ylabel 'force on the hand, N' offset 1
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) \
    linewidth widths[i] dashtype dashes[i] linecolor rgb colours[i]
do for [i = 1:3] { unset label i }
set logscale y
set format y '10^{%T}'
set yrange [1:1e5]
set ylabel 'points in contact' offset 0.5
set ytics 1, 10
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'touching' linewidth 2.5 linecolor rgb colours[i]
set ylabel 'nodes visited' offset 0.5
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'visited' linewidth 2.5 linecolor rgb colours[i]
unset logscale y
set format y '%g'
set yrange [0:5.5]
set ytics 0, 1
set ylabel 'level' offset 0.5
set xlabel 'time, s'
set format x '%g'
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'level' linewidth widths[i] dashtype dashes[i] linecolor rgb colours[i]
unset multiplot
