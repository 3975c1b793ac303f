# gnuplot -c sheet.gp OUT.png WIDTHxHEIGHT COLUMNS 'PICTURE.png ...' ['"LABEL" ...']
# Pictures of one size in rows, pixel for pixel, each with a label in its upper right corner where there are labels.
cut = strstrt(ARG2, 'x')
width = int(ARG2[1:cut - 1])
height = int(ARG2[cut + 1:])
columns = int(ARG3)
rows = (words(ARG4) + columns - 1) / columns
left(i) = width * ((i - 1) % columns)
bottom(i) = height * (rows - 1 - (i - 1) / columns)
labels = ARGC > 4 ? ARG5 : ''
load sprintf('< supple-plot --style png --size %dx%d', width * columns, height * rows)
letters = height < 400 ? 16 : height < 500 ? 20 : 24
set output ARG1
unset border
unset grid
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:width * columns]
set yrange [0:height * rows]
do for [i = 1:words(labels)] { set label i word(labels, i) right at left(i) + width - 12, bottom(i) + height - letters - 2 font sprintf('sans,%d', letters) front }
plot for [i = 1:words(ARG4)] word(ARG4, i) binary filetype=png origin=(left(i) + 0.5, bottom(i) + 0.5) dx=1 dy=1 with rgbimage
