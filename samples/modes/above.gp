# gnuplot -c above.gp OUT.png WIDTH HEIGHT HEIGHT ABOVE.png BELOW.png: one picture above the other, pixel for pixel.
width = int(ARG2)
first = int(ARG3)
second = int(ARG4)
set terminal png truecolor noenhanced size width, first + second
set output ARG1
unset border
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:width]
set yrange [0:first + second]
plot ARG5 binary filetype=png origin=(0.5, second + 0.5) dx=1 dy=1 with rgbimage, ARG6 binary filetype=png origin=(0.5, 0.5) dx=1 dy=1 with rgbimage
