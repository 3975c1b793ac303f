# gnuplot -c contours.gp OUT.png SPACING 'exact single double' '1 2': the slices of simrender, a row for each pose, without their captions.
size = 720
columns = words(ARG3)
rows = words(ARG4)
gap = 12
left = 64
top = 70
below = 60
wide = left + columns * (size + gap)
high = top + rows * (size + gap) + below
stats 'out/' . word(ARG3, 1) . '_' . word(ARG4, 1) . '.png' binary filetype=png using 1 nooutput
strip = STATS_records / size - size # the height of a caption
load sprintf('< supple-plot --style png --size %dx%d', wide, high)
set output ARG1
unset border
unset grid
unset tics
unset key
set margins 0, 0, 0, 0
set xrange [0:wide]
set yrange [0:high]
x(i) = left + (size + gap) * (i - 1)
y(j) = high - top - (size + gap) * j + gap # lower side of row j
names = '"exact" "contact, one domain" "contact, two domains"'
poses = '"pose 1: bent" "pose 2: apart"'
do for [i = 1:columns] { set label i word(names, i) at x(i) + size / 2, high - top / 2 center front }
do for [j = 1:rows] {
    set label 10 + j word(poses, j) at left / 2, y(j) + size / 2 center rotate front
    set object j rectangle from 0, y(j) - strip - 1 to wide, y(j) front fillcolor rgb 'white' fillstyle solid noborder
}
set label 20 'All panels: side 2.6 m, lines every ' . ARG2 . ' m; black: the surface, blue: inside' at left, below / 2 front
plot for [j = 1:rows] for [i = 1:columns] 'out/' . word(ARG3, i) . '_' . word(ARG4, j) . '.png' \
    binary filetype=png origin=(x(i) + 0.5, y(j) - strip + 0.5) dx=1 dy=1 with rgbimage
