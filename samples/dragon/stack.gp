# gnuplot -c stack.gp OUT.png WIDTHxHEIGHT '"LABEL" ...' 'ROW.png ...'
# Pictures of one size below one another, pixel for pixel, each with a label.
rows = words(ARG4)
cut = strstrt(ARG2, 'x')
width = int(ARG2[1:cut - 1])
height = int(ARG2[cut + 1:])
set terminal png truecolor noenhanced size width, height * rows
set output ARG1
unset border
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:width]
set yrange [0:height * rows]
do for [i = 1:rows] { set label i word(ARG3, i) right at width - 12, height * (rows - i + 1) - 18 front }
plot for [i = 1:rows] word(ARG4, i) binary filetype=png origin=(0.5, height * (rows - i) + 0.5) dx=1 dy=1 with rgbimage
