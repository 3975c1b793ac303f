# Nodes, points and forces along the path, and the leverage.
load '< supple-plot --style png --size 1000x1000'
set output 'out/cycles.png'
set datafile separator ','
set style data lines
length(x, y, z) = sqrt(x * x + y * y + z * z)
set multiplot layout 3,1 title 'The alpha puzzle'
set lmargin 10
set key inside left top vertical
set ylabel 'per cycle'
plot 'out/solve-motion.csv' using 'time':'visited' linetype 3 linewidth thick / 2 title 'nodes visited', \
     '' using 'time':(10 * column('touching')) linetype 5 linewidth thick / 2 title 'penetrating points, times 10'
set ylabel 'force of the coupling [N]'
set xlabel 'time t [s]'
plot 'out/solve-motion.csv' using 'time':(length(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) \
    linetype 1 linewidth thick / 2 notitle
set ylabel 'rotation of the alpha [°]'
set xlabel 'rotation of the device [°]'
set xrange [0:80]
device(t) = 40 * (t > 2 ? 2 : t)
angle(z) = 360 / pi * acos(abs(z) > 1 ? 1 : abs(z))
plot 'out/lever-motion.csv' using (device(column('time'))):(angle(column('held.qz'))) linetype 2 \
    title 'lever, no saturation', \
     'out/held-motion.csv' using (device(column('time'))):(angle(column('held.qz'))) linetype 1 \
     title 'lever, torques saturated at 12.85 N m'
unset multiplot
