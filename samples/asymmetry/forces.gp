# Forces on the moving copy and the penetration over the samples, as far as it is below `most` voxels.
set encoding utf8
set terminal pngcairo noenhanced size 1000,1100 font 'sans,12'
set output target
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
table(name) = folder . '/' . name . '.csv'
stats table('points-depth') using ($2 > 0 ? $1 : NaN) name 'touch' nooutput
stats table('points-depth') using ($2 < most ? $1 : NaN) name 'part' nooutput
stats table('points-depth') using ($2 < 1 ? $1 : NaN) name 'voxel' nooutput
first = most < 10 ? 1000 * touch_min - 10 : 0
set xrange [first:1000 * part_max]
set arrow 1 from 1000 * voxel_max, graph 0 to 1000 * voxel_max, graph 1 nohead linewidth 1.5 linecolor rgb '#009E73'
set multiplot layout 4,1 title 'Roles reversed: force on the moving dragon' font ',14'
set lmargin 10
set key left Left reverse
set style data lines
do for [k = 1:3] {
    set ylabel 'force ' . 'xyz'[k:k] . ' [N]'
    plot table('points') using ($1 * 1000):(column('mover.f' . 'xyz'[k:k])) linewidth 2 linecolor rgb '#D55E00' title 'it has the points', \
         table('distances') using ($1 * 1000):(column('mover.f' . 'xyz'[k:k])) linewidth 2 dashtype 2 linecolor rgb '#0072B2' \
         title 'it has the distances'
}
set ylabel 'penetration [voxels]'
set xlabel 'sample'
plot table('points-depth') using ($1 * 1000):(-$2) linewidth 2 linecolor rgb '#D55E00' notitle, \
     table('distances-depth') using ($1 * 1000):(-$2) linewidth 2 dashtype 2 linecolor rgb '#0072B2' notitle
unset multiplot
