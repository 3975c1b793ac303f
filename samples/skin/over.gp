# gnuplot -c over.gp OUT.png SIZE 'SKIN.png ...' 'CORE.png ...' '"ROW" ...'
# Rows of squares of SIZE pixels, with a label for each row. Each square shows a skin, translucent over the core of the same number.
size = int(ARG2)
rows = words(ARG5)
columns = words(ARG3) / rows
left(i) = size * ((i - 1) % columns)
bottom(i) = size * (rows - 1 - (i - 1) / columns)
load sprintf('< supple-plot --style png --size %dx%d', size * columns, size * rows)
set output ARG1
unset border
unset grid
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:size * columns]
set yrange [0:size * rows]
do for [r = 1:rows] { set label r word(ARG5, r) at 16, size * (rows - r + 1) - 24 front }
plot for [i = 1:words(ARG4)] word(ARG4, i) binary filetype=png origin=(left(i) + 0.5, bottom(i) + 0.5) dx=1 dy=1 with rgbimage, \
     for [i = 1:words(ARG3)] word(ARG3, i) binary filetype=png origin=(left(i) + 0.5, bottom(i) + 0.5) dx=1 dy=1 using 1:2:3:(140) with rgbalpha
