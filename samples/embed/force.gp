# gnuplot -c force.gp OUT.png: the force that the device renders, and the heights of hand and ball, by libsupple and by simserve.
load '< supple-plot --style png --size 1000x720'
set output ARG1
set datafile separator ','
set style data lines
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
runs = 'library served'
titles = 'libsupple simserve'
set xrange [0:1500]
set key inside bottom center vertical
set multiplot layout 2, 1 title 'A scripted hand presses a ball into a spoon' margins 0.10, 0.97, 0.12, 0.92 spacing 0.05, 0.05
set format x ''
set ylabel 'rendered force [N]'
plot for [i = 1:2] 'out/hand/'.word(runs, i).'.csv' using 'step':(size(column('device_fx'), column('device_fy'), column('device_fz'))) \
    linetype i linewidth thick * (3.6 - 1.4 * i) title word(titles, i)
set key inside top center vertical
set ylabel 'height [mm]'
set xlabel 'step of 1 ms'
set format x '%g'
plot 'out/hand/library.csv' using 'step':(1e3 * column('hand_z')) linetype 5 linewidth thick / 2 title 'hand', \
    for [i = 1:2] 'out/hand/'.word(runs, i).'.csv' using 'step':(1e3 * column('ball.z')) \
    linetype i linewidth thick * (3.6 - 1.4 * i) title 'ball, '.word(titles, i)
unset multiplot
