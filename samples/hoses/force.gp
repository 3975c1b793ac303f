# gnuplot -c force.gp OUT.png: force and torque on the hand, points in contact and nodes visited.
load '< supple-plot --style png --size 1200x1100'
set output ARG1
set datafile separator ','
set xrange [0:6]
set style data lines
set key top right at graph 1, 1.2 # above each plot
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
set multiplot layout 3, 1 margins 0.115, 0.98, 0.095, 0.95 spacing 0, 0.06
set format x ''
set ylabel 'force on the hand [N]'
set yrange [-20:30]
set arrow 1 from 0, 25 to 6, 25 nohead dashtype 2 linewidth thick / 2 linecolor rgb '#808080'
set label 1 'saturation' at 0.05, 27.2 textcolor rgb '#606060'
plot 'out/motion.csv' using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) linetype 1 title 'length', \
    '' using 'time':'coupling_fz' linetype 2 title 'along z'
unset arrow 1
unset label 1
set yrange [-0.3:0.4]
set ylabel 'height [m]'
set arrow 2 from 0, 0 to 6, 0 nohead dashtype 2 linewidth thick / 2 linecolor rgb '#808080'
set label 2 'hoses' at 0.05, -0.04 textcolor rgb '#606060'
plot 'out/motion.csv' using 'time':'hand_z' linetype 5 title 'device', '' using 'time':'part.z' linetype 3 title 'part'
unset arrow 2
unset label 2
set ylabel 'number' offset 1.5
set xlabel 'time [s]'
set format x '%g'
set logscale y
set yrange [1:10000]
plot 'out/motion.csv' using 'time':'visited' linetype 1 linewidth thick / 2 title 'nodes visited', '' using 'time':'touching' linetype 2 linewidth thick / 2 title 'points in contact'
unset multiplot
