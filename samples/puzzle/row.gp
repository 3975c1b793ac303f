# gnuplot -c row.gp OUT.png A.png B.png C.png: three pictures of 520x560 beside one another, pixel for pixel.
set terminal png truecolor noenhanced size 1560,560
set output ARG1
unset border
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:1560]
set yrange [0:560]
plot ARG2 binary filetype=png origin=(0.5, 0.5) dx=1 dy=1 with rgbimage, \
     ARG3 binary filetype=png origin=(520.5, 0.5) dx=1 dy=1 with rgbimage, \
     ARG4 binary filetype=png origin=(1040.5, 0.5) dx=1 dy=1 with rgbimage
