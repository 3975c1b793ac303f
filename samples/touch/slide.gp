# gnuplot -c slide.gp OUT.png: the force that the hand feels over the levels looked at, rigid beside soft.
set encoding utf8
set terminal pngcairo noenhanced size 1200,900 font 'sans,11'
set output ARG1
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set key top right samplen 0
set xrange [0:4]
set yrange [0:3.4]
set ytics 1
points = '751 3754 15765 63812 256000'
size(x, y, z) = sqrt(x ** 2 + y ** 2 + z ** 2)
set multiplot layout 5, 2 title 'Six bumps slide over a rail: force on the hand [N] over time [s], levels 1 to 5' margins 0.05, 0.98, 0.06, 0.93 spacing 0.05, 0.03
do for [level = 1:5] {
    set format x level == 5 ? '%g' : ''
    plot sprintf('out/rigid-%d.csv', level) using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) with lines linewidth 1.5 \
        linecolor rgb '#0072B2' title sprintf('rigid bridge, %s points', word(points, level))
    plot sprintf('out/soft-%d.csv', level) using 'time':(size(column('coupling_fx'), column('coupling_fy'), column('coupling_fz'))) with lines linewidth 1.5 \
        linecolor rgb '#D55E00' title sprintf('deformable, %s points', word(points, level))
}
unset multiplot
