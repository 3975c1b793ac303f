# Figure 4.5, right: the hand turns, the pole is stopped by a pillar, and may be pressed through it. `most`: N, what it resists.
set encoding utf8
set terminal pngcairo noenhanced size 1000,860 font 'sans,12'
set output 'out/turn.png'
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set style data lines
arms = '0.18 0.06 0.03 0.02'
colours = '#009E73 #0072B2 #D55E00 #CC79A7'
file(i, limit) = 'out/turn-' . word(arms, i) . '-' . limit . '-motion.csv'
hand(t) = 45 * (t > 2 ? 2 : t)
angle(w, z) = 360 / pi * atan2(z, w)
set xrange [0:90]
set multiplot layout 2,1 title 'A pole turned by its middle against a pillar' font ',14'
set lmargin 10
set key left top Left reverse
set ylabel 'the pole has turned by [°]'
plot for [i = 1:4] file(i, 'null') using (hand(column('time'))):(angle(column('pole.qw'), column('pole.qz'))) \
    linewidth 2 linecolor rgb word(colours, i) title word(arms, i) . ' m from its middle', \
     for [i = 1:4] file(i, '2') using (hand(column('time'))):(angle(column('pole.qw'), column('pole.qz'))) \
     linewidth 2 dashtype 2 linecolor rgb word(colours, i) title 'torque up to 2 N m'
set ylabel 'force on the pole [N]'
set xlabel 'the hand has turned by [°]'
set yrange [0:1.25 * most]
set arrow 1 from 0, most to 90, most nohead linecolor rgb '#404040'
set label 1 'what the pillar can resist' at 88, 1.06 * most right
set key off
force(x, y, z) = sqrt(x * x + y * y + z * z)
plot for [i = 1:4] file(i, 'null') using (hand(column('time'))):(force(column('pole.fx'), column('pole.fy'), column('pole.fz'))) \
    linewidth 2 linecolor rgb word(colours, i), \
     for [i = 1:4] file(i, '2') using (hand(column('time'))):(force(column('pole.fx'), column('pole.fy'), column('pole.fz'))) \
     linewidth 2 dashtype 2 linecolor rgb word(colours, i)
unset multiplot
