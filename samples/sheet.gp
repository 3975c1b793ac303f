# gnuplot -c sheet.gp OUT.png WIDTHxHEIGHT[+WIDER] COLUMNS 'PICTURE.png ...' ['"LABEL" ...']
# Pictures of one size in rows, pixel for pixel, apart from one another. Where there are labels, each is above its picture, in a strip of its
# own, so that it covers nothing. Pictures of the last column are wider by WIDER pixels, for a colour bar that belongs to all.
cut = strstrt(ARG2, 'x')
plus = strstrt(ARG2, '+')
width = int(ARG2[1:cut - 1])
height = int(ARG2[cut + 1:(plus > 0 ? plus - 1 : strlen(ARG2))])
wider = plus > 0 ? int(ARG2[plus + 1:]) : 0
columns = int(ARG3)
rows = (words(ARG4) + columns - 1) / columns
labels = ARGC > 4 ? ARG5 : ''
gap = 6
# Letters of a size that is readable at half of the size of the sheet.
page = width * columns + wider + gap * (columns + 1)
letters = page < 1100 ? 16 : page < 1700 ? 19 : 22
strip = labels eq '' ? 0 : 2 * letters
tall = (height + strip + gap) * rows + gap
left(i) = gap + (width + gap) * ((i - 1) % columns)
bottom(i) = gap + (height + strip + gap) * (rows - 1 - (i - 1) / columns)
load sprintf('< supple-plot --style png --size %dx%d', page, tall)
set output ARG1
unset border
unset grid
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:page]
set yrange [0:tall]
do for [i = 1:words(labels)] { set label i word(labels, i) left at left(i) + 6, bottom(i) + height + strip / 2 font sprintf('sans,%d', letters) front }
plot for [i = 1:words(ARG4)] word(ARG4, i) binary filetype=png origin=(left(i) + 0.5, bottom(i) + 0.5) dx=1 dy=1 with rgbimage
