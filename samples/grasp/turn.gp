# Figure 4.5, right: the device rotates, the pole is stopped by a pillar and may be pressed through it. `most`: the largest force of the pillar, N.
load '< supple-plot --style png --size 1200x1150'
set output 'out/turn.png'
set datafile separator ','
set style data lines
arms = '0.18 0.06 0.03 0.02'
array kinds[4] = [3, 1, 2, 4]
file(i, limit) = 'out/turn-' . word(arms, i) . '-' . limit . '-motion.csv'
device(t) = 45 * (t > 2 ? 2 : t)
angle(w, z) = 360 / pi * atan2(z, w)
set xrange [0:90]
# The legend is above the plots.
set label 10 'Pillar from the grasp:' at screen 0.10, 0.97
do for [i = 1:4] { set label 10 + i sprintf('%g mm', 1000 * word(arms, i)) at screen 0.30 + 0.11 * i, 0.97 textcolor linetype kinds[i] }
set label 15 'dashed: torques saturated at 2 N m' at screen 0.10, 0.94
unset key
set multiplot layout 2, 1 margins 0.10, 0.97, 0.095, 0.91 spacing 0, 0.05
set format x ''
set ylabel 'rotation of the pole [°]'
plot for [i = 1:4] file(i, 'null') using (device(column('time'))):(angle(column('pole.qw'), column('pole.qz'))) \
    linetype kinds[i], \
     for [i = 1:4] file(i, '2') using (device(column('time'))):(angle(column('pole.qw'), column('pole.qz'))) \
     linetype kinds[i] dashtype 2
do for [i = 10:15] { unset label i }
set format x '%g'
set ylabel 'force on the pole [N]'
set xlabel 'rotation of the device [°]'
set yrange [0:1.25 * most]
set arrow 1 from 0, most to 90, most nohead linecolor rgb '#404040'
set label 1 'largest force of the pillar' at 2, 1.06 * most left
force(x, y, z) = sqrt(x * x + y * y + z * z)
plot for [i = 1:4] file(i, 'null') using (device(column('time'))):(force(column('pole.fx'), column('pole.fy'), column('pole.fz'))) \
    linetype kinds[i], \
     for [i = 1:4] file(i, '2') using (device(column('time'))):(force(column('pole.fx'), column('pole.fy'), column('pole.fz'))) \
     linetype kinds[i] dashtype 2
unset multiplot
