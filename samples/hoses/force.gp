# gnuplot -c force.gp OUT.png: force and torque on the hand, points in contact and nodes visited.
set encoding utf8
set terminal pngcairo noenhanced size 1000,800 font 'sans,11'
set output ARG1
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set xrange [0:6]
set style data lines
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
set multiplot layout 3, 1 title 'A metal part goes between two hoses' margins 0.08, 0.98, 0.07, 0.94 spacing 0.05, 0.04
set format x ''
set ylabel 'force [N]'
plot 'out/motion.csv' using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) linewidth 1.5 linecolor rgb '#0072B2' title 'coupling', \
    '' using 'time':'coupling_fz' linewidth 1 linecolor rgb '#D55E00' title 'along z'
set ylabel 'height [m]'
plot 'out/motion.csv' using 'time':'hand_z' linewidth 1.5 linecolor rgb '#000000' title 'hand', '' using 'time':'part.z' linewidth 1.5 linecolor rgb '#009E73' title 'part'
set ylabel 'number'
set xlabel 'time [s]'
set format x '%g'
set logscale y
set yrange [1:*]
plot 'out/motion.csv' using 'time':'visited' linewidth 1 linecolor rgb '#0072B2' title 'nodes visited', '' using 'time':'touching' linewidth 1 linecolor rgb '#D55E00' title 'points in contact'
unset multiplot
