# gnuplot -c sheet.gp OUT.png WIDTHxHEIGHT COLUMNS 'PICTURE.png ...' ['"LABEL" ...']
# Pictures of one size in rows, pixel for pixel, each with a label where there are labels.
cut = strstrt(ARG2, 'x')
width = int(ARG2[1:cut - 1])
height = int(ARG2[cut + 1:])
columns = int(ARG3)
rows = (words(ARG4) + columns - 1) / columns
left(i) = width * ((i - 1) % columns)
bottom(i) = height * (rows - 1 - (i - 1) / columns)
set terminal png truecolor noenhanced font ',18' size width * columns, height * rows
set output ARG1
unset border
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:width * columns]
set yrange [0:height * rows]
do for [i = 1:words(ARG5)] { set label i word(ARG5, i) right at left(i) + width - 12, bottom(i) + height - 18 front }
plot for [i = 1:words(ARG4)] word(ARG4, i) binary filetype=png origin=(left(i) + 0.5, bottom(i) + 0.5) dx=1 dy=1 with rgbimage
