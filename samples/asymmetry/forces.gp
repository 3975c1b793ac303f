# Forces on the moving copy and its penetration over the samples, up to a penetration of `most` voxels.
load '< supple-plot --style png --size 1200x1300'
set output target
set datafile separator ','
table(name) = folder . '/' . name . '.csv'
stats table('points-depth') using ($2 > 0 ? $1 : NaN) name 'touch' nooutput
stats table('points-depth') using ($2 < most ? $1 : NaN) name 'part' nooutput
stats table('points-depth') using ($2 < 1 ? $1 : NaN) name 'voxel' nooutput
first = most < 10 ? 1000 * touch_min - 10 : 0
set xrange [first:1000 * part_max]
set arrow 1 from 1000 * voxel_max, graph 0 to 1000 * voxel_max, graph 1 nohead linetype 3
set multiplot layout 4, 1 margins 0.09, 0.97, 0.07, 0.90 spacing 0, 0.022
set style data lines
set ytics autofreq
set format x ''
# the legend above the plots, in lines of their own
set label 1 'Force on the moving dragon, which is' at screen 0.09, 0.965
set label 2 'a point shell' at screen 0.50, 0.965 textcolor linetype 2
set label 3 'a distance field (dashed)' at screen 0.66, 0.965 textcolor linetype 1
set label 4 'green: one voxel deep' at screen 0.09, 0.93 textcolor linetype 3
unset key
do for [k = 1:3] {
    set ylabel 'force ' . 'xyz'[k:k] . ' [N]' offset 1
    plot table('points') using ($1 * 1000):(column('mover.f' . 'xyz'[k:k])) linetype 2, \
         table('distances') using ($1 * 1000):(column('mover.f' . 'xyz'[k:k])) linetype 1 dashtype 2
    do for [i = 1:4] { unset label i }
}
set ylabel 'depth [voxels]'
set xlabel 'sample'
set format x '%g'
set yrange [0:*]
plot table('points-depth') using ($1 * 1000):2 linetype 2, \
     table('distances-depth') using ($1 * 1000):2 linetype 1 dashtype 2
unset multiplot
