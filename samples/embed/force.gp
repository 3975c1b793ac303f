# gnuplot -c force.gp OUT.png: the force that the device renders, and the heights of hand and ball, by libsupple and by simserve.
set encoding utf8
set terminal pngcairo noenhanced size 1000,720 font 'sans,11'
set output ARG1
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set style data lines
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
runs = 'library served'
titles = 'libsupple simserve'
colours = '#0072B2 #D55E00'
set xrange [0:1500]
set key bottom right
set multiplot layout 2, 1 title 'A scripted hand presses a ball into a spoon' margins 0.08, 0.98, 0.08, 0.94 spacing 0.05, 0.05
set format x ''
set ylabel 'rendered force [N]'
plot for [i = 1:2] 'out/hand/'.word(runs, i).'.csv' using 'step':(size(column('device_fx'), column('device_fy'), column('device_fz'))) \
    linewidth 4 - 2.5 * (i - 1) linecolor rgb word(colours, i) title word(titles, i)
set key top center
set ylabel 'height [mm]'
set xlabel 'step of 1 ms'
set format x '%g'
plot 'out/hand/library.csv' using 'step':(1e3 * column('hand_z')) linewidth 1.5 linecolor rgb '#000000' title 'hand', \
    for [i = 1:2] 'out/hand/'.word(runs, i).'.csv' using 'step':(1e3 * column('ball.z')) \
    linewidth 4 - 2.5 * (i - 1) linecolor rgb word(colours, i) title 'ball, '.word(titles, i)
unset multiplot
