# gnuplot -c slide.gp OUT.png: the force that the hand feels over the levels looked at, rigid beside soft.
load '< supple-plot --style png --size 1400x1200'
set output ARG1
set datafile separator ','
set xrange [0.5:3.7]
set xtics 0.5, 0.5
points = '751 3,754 15,765 63,812 256,000'
passes(k) = 0.6 + 3 * (0.018 + 0.016 * k) / 0.116 # the time at which the middle of bump k is over the rail, from path.py and body.py
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
do for [k = 0:5] { set object k + 1 rectangle from passes(k) - 0.17, graph 0 to passes(k) + 0.17, graph 1 behind fillcolor rgb '#E8E8E8' fillstyle solid noborder }
set multiplot layout 5, 2 margins 0.06, 0.985, 0.10, 0.90 spacing 0.06, 0.022
set label 1 'Force on the hand [N]' at screen 0.01, 0.97
set label 2 'rigid bridge' at screen 0.29, 0.93 center textcolor linetype 1
set label 3 'deformable bridge, r = 15' at screen 0.755, 0.93 center textcolor linetype 2
set label 4 'grey: one of the six bumps is over the rail' at screen 0.985, 0.97 right
unset key
do for [level = 1:5] {
    set format x level == 5 ? '%g' : ''
    if (level == 5) { set xlabel 'time [s]' }
    set label 5 sprintf('%d level%s, %s points', level, level == 1 ? '' : 's', word(points, level)) at graph 0.985, 0.9 right front
    set yrange [0:2]
    set ytics 1
    plot sprintf('out/rigid-%d.csv', level) using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) with lines linetype 1
    do for [i = 1:4] { unset label i }
    set yrange [0:1.1]
    set ytics 0.5
    plot sprintf('out/soft-%d.csv', level) using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) with lines linetype 2
}
unset multiplot
