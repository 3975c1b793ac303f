# Forces on the walls, nodes visited and penetrating points.
load '< supple-plot --style png --size 1200x950'
set output 'out/forces.png'
set datafile separator ','
set style data lines
set multiplot layout 2,1 margins 0.11, 0.97, 0.11, 0.97 spacing 0, 0.09
set key inside right top vertical
set ylabel 'force on the wall [N]'
length(x, y, z) = sqrt(x * x + y * y + z * z)
force(name) = length(column(name . '.fx'), column(name . '.fy'), column(name . '.fz'))
plot 'out/motion.csv' using 'time':(force('behind')) linetype 1 title 'wall behind', \
     '' using 'time':(force('beside')) linetype 2 title 'wall beside'
set ylabel 'number' offset 1
set xlabel 'time [s]'
plot 'out/motion.csv' using 'time':'visited' linetype 3 linewidth thick / 2 title 'nodes visited', \
     '' using 'time':'touching' linetype 5 title 'penetrating points'
unset multiplot
