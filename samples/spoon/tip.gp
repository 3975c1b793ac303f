# gnuplot -c tip.gp OUT.png: the tip of the full-order and of the reduced simulations, as in Figure 2.3, and below it the differences.
load '< supple-plot --style png --size 1200x1050'
set output ARG1
set datafile separator ','
set style data lines
set xrange [0:1.05]
names = 'full motion derivative sketch'
titles = '"full simulation" "POD of the full motion" "modal derivatives" "sketch"'
array kinds[4] = [5, 3, 2, 1]
array widths[4] = [2, 1, 1, 1]
file(i) = 'out/' . word(names, i) . '-tip.csv'
set multiplot layout 2, 1 margins 0.11, 0.97, 0.10, 0.92 spacing 0, 0.06
do for [i = 1:4] { set label i word(titles, i) at screen word('0.09 0.29 0.56 0.78', i), 0.965 textcolor linetype kinds[i] }
unset key
set format x ''
set ylabel 'tip, vertical [m]'
set yrange [-1.5:1.5]
plot for [i = 1:4] file(i) using 'time':'s3320_z' linetype kinds[i] linewidth thick * widths[i]
do for [i = 1:4] { unset label i }
set format x '%g'
set xlabel 'time [s]'
set ylabel 'minus the full simulation [m]'
set yrange [*:*]
# All files have the same times, so that lines can be joined.
joined(i) = '< paste -d, ' . file(1) . ' ' . file(i)
columns = int(system("head -n 1 " . file(1) . " | tr ',' '\\n' | wc -l"))
place = int(system("head -n 1 " . file(1) . " | tr ',' '\\n' | grep -n s3320_z | cut -d: -f1"))
plot for [i = 2:4] joined(i) using 1:(column(columns + place) - column(place)) linetype kinds[i]
unset multiplot
