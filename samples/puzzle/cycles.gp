# Nodes, points and forces along the path, and the leverage.
set encoding utf8
set terminal pngcairo noenhanced size 1000,1000 font 'sans,12'
set output 'out/cycles.png'
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set style data lines
length(x, y, z) = sqrt(x * x + y * y + z * z)
set multiplot layout 3,1 title 'The alpha puzzle' font ',14'
set lmargin 10
set key left top Left reverse
set ylabel 'per cycle'
plot 'out/solve-motion.csv' using 'time':'visited' linewidth 1.5 linecolor rgb '#009E73' title 'nodes visited', \
     '' using 'time':(10 * column('touching')) linewidth 1.5 linecolor rgb '#000000' title 'penetrating points, times 10'
set ylabel 'force of the coupling [N]'
set xlabel 'time t [s]'
plot 'out/solve-motion.csv' using 'time':(length(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) \
    linewidth 1.5 linecolor rgb '#0072B2' notitle
set ylabel 'rotation of the alpha [°]'
set xlabel 'rotation of the device [°]'
set xrange [0:80]
device(t) = 40 * (t > 2 ? 2 : t)
angle(z) = 360 / pi * acos(abs(z) > 1 ? 1 : abs(z))
plot 'out/lever-motion.csv' using (device(column('time'))):(angle(column('held.qz'))) linewidth 2 linecolor rgb '#D55E00' \
    title 'lever, no saturation', \
     'out/held-motion.csv' using (device(column('time'))):(angle(column('held.qz'))) linewidth 2 linecolor rgb '#0072B2' \
     title 'lever, torques saturated at 12.85 N m'
unset multiplot
