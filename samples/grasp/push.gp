# Figure 4.1: what the hand feels.
set encoding utf8
set terminal pngcairo noenhanced size 1000,760 font 'sans,12'
set output 'out/push.png'
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set key left top Left reverse
set style data lines
runs = 'middle-100 end-100 middle-5 end-5'
colours = '#0072B2 #D55E00 #56B4E9 #E69F00'
title(run) = run[1:3] eq 'mid' ? 'grasped at its middle' : 'grasped at its end'
spring(run) = ', torque spring of ' . (strstrt(run, '100') ? '100' : '5') . ' N m'
set multiplot layout 2,1 title 'A pole pushed against a pillar 15 cm from its middle' font ',14'
set lmargin 10
set ylabel 'force felt [N]'
plot for [i = 1:4] 'out/push-' . word(runs, i) . '-motion.csv' using 'time':(-column('device_fy')) \
    linewidth 2 linecolor rgb word(colours, i) title title(word(runs, i)) . spring(word(runs, i))
set ylabel 'torque felt [N m]'
set xlabel 'time t [s]'
plot for [i = 1:4] 'out/push-' . word(runs, i) . '-motion.csv' using 'time':(-column('device_tz')) \
    linewidth 2 linecolor rgb word(colours, i) title title(word(runs, i)) . spring(word(runs, i))
unset multiplot
