# gnuplot -c force.gp OUT.png: as Figure 3.28: force, points, nodes and the level, with all levels and with node budgets.
load '< supple-plot --style png --size 1200x1300'
set termoption enhanced
set output ARG1
set datafile separator ','
set xrange [0:5]
set style data lines
array runs[3] = ['all', '2000', '600']
array kinds[3] = [5, 1, 2]
array widths[3] = [2, 1, 1]
array dashes[3] = [1, 1, 2]
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
# The legend is a line of its own above the plots.
set label 1 'all five levels' at screen 0.13, 0.97
set label 2 'node budget 2000' at screen 0.36, 0.97 textcolor linetype 1
set label 3 'node budget 600 (dashed)' at screen 0.62, 0.97 textcolor linetype 2
unset key
set multiplot layout 4, 1 margins 0.13, 0.97, 0.08, 0.94 spacing 0, 0.03
set format x ''
set ylabel 'force on the hand [N]' offset 1
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) \
    linetype kinds[i] linewidth thick * widths[i] dashtype dashes[i]
do for [i = 1:3] { unset label i }
set logscale y
set format y '10^{%T}'
set yrange [1:1e5]
set ylabel 'points in contact' offset 0.5
set ytics 1, 10
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'touching' linetype kinds[i]
set ylabel 'nodes visited' offset 0.5
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'visited' linetype kinds[i]
unset logscale y
set format y '%g'
set yrange [0:5.5]
set ytics 0, 1
set ylabel 'level' offset 0.5
set xlabel 'time [s]'
set format x '%g'
plot for [i = 1:3] 'out/'.runs[i].'.csv' using 'time':'level' linetype kinds[i] linewidth thick * widths[i] dashtype dashes[i]
unset multiplot
