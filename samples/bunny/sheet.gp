# gnuplot -c sheet.gp OUT.png WIDTHxHEIGHT COLUMNS 'PICTURE.png ...' GROUND '"LABEL" ...' [PIXELS 'TALL ...']
# Pictures of one size in rows, pixel for pixel, with the ground as a line GROUND pixels above the bottom of each row, and a label over
# each column, and the height TALL m of the undeformed body as a dashed line in the second column of each row.
cut = strstrt(ARG2, 'x')
width = int(ARG2[1:cut - 1])
height = int(ARG2[cut + 1:])
columns = int(ARG3)
rows = (words(ARG4) + columns - 1) / columns
left(i) = width * ((i - 1) % columns)
bottom(i) = height * (rows - 1 - (i - 1) / columns)
load sprintf('< supple-plot --style png --size %dx%d', width * columns, height * rows)
set output ARG1
unset border
unset grid
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:width * columns]
set yrange [0:height * rows]
do for [r = 1:rows] { set arrow r from 0, height * (r - 1) + int(ARG5) to width * columns, height * (r - 1) + int(ARG5) nohead linewidth 2 linecolor rgb '#404040' front }
if (ARGC > 6) {
    do for [r = 1:rows] {
        y = height * (rows - r) + int(ARG5) + ARG7 * word(ARG8, r)
        set arrow rows + r from width + 20, y to 2 * width - 20, y nohead linewidth 2 dashtype 2 linecolor rgb '#C00000' front
        set label 100 + r 'height at rest' at width + 24, y + 12 textcolor rgb '#C00000' front
    }
}
do for [i = 1:words(ARG6)] { set label i word(ARG6, i) center at left(i) + width / 2, height * rows - 14 front }
plot for [i = 1:words(ARG4)] word(ARG4, i) binary filetype=png origin=(left(i) + 0.5, bottom(i) + 0.5) dx=1 dy=1 with rgbimage
