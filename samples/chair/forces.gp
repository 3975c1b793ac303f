# Forces on the walls, nodes visited and penetrating points.
set encoding utf8
set terminal pngcairo noenhanced size 1200,950 font 'sans,16'
set output 'out/forces.png'
set datafile separator ','
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set tics nomirror
set border 3 linecolor rgb '#404040'
set style data lines
set multiplot layout 2,1 margins 0.11, 0.97, 0.09, 0.97 spacing 0, 0.09
set key right top Left reverse
set ylabel 'force on the wall, N'
length(x, y, z) = sqrt(x * x + y * y + z * z)
force(name) = length(column(name . '.fx'), column(name . '.fy'), column(name . '.fz'))
plot 'out/motion.csv' using 'time':(force('behind')) linewidth 2 linecolor rgb '#0072B2' title 'wall behind', \
     '' using 'time':(force('beside')) linewidth 2 linecolor rgb '#D55E00' title 'wall beside'
set ylabel 'number' offset 1
set xlabel 'time, s'
plot 'out/motion.csv' using 'time':'visited' linewidth 1.5 linecolor rgb '#009E73' title 'nodes visited', \
     '' using 'time':'touching' linewidth 2 linecolor rgb '#000000' title 'penetrating points'
unset multiplot
