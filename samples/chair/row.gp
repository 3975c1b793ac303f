# Three pictures beside one another, pixel for pixel.
set terminal png truecolor noenhanced size 1560,680
set output 'out/poses.png'
unset border
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:1560]
set yrange [0:680]
plot for [i = 1:3] sprintf('out/pose-%d.png', 500 * i) binary filetype=png origin=(520 * (i - 1) + 0.5, 0.5) dx=1 dy=1 with rgbimage
