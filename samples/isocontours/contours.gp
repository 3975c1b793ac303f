# gnuplot -c contours.gp OUT.png SIZE 'exact single double' '1 2': a row for each pose
size = int(ARG2)
columns = words(ARG3)
rows = words(ARG4)
set terminal png truecolor noenhanced size size * columns, size * rows
set output ARG1
unset border
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:size * columns]
set yrange [0:size * rows]
names = '"exact" "approximate, one domain" "approximate, two domains"'
do for [i = 1:columns] { set label i word(names, i) at size * (i - 1) + 12, size * rows - 18 front }
plot for [j = 1:rows] for [i = 1:columns] 'out/' . word(ARG3, i) . '_' . word(ARG4, j) . '.png' binary filetype=png origin=(size * (i - 1) + 0.5, size * (rows - j) + 0.5) dx=1 dy=1 with rgbimage
