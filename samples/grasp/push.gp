# Figure 4.1: force and torque that the device renders.
load '< supple-plot --style png --size 1200x1000'
set output 'out/push.png'
set datafile separator ','
unset key
set style data lines
# Each curve has its name at its end, where the force is constant.
runs = 'middle-100 end-100 middle-5 end-5'
names = '"middle, 100 N m" "end, 100 N m" "middle, 5 N m" "end, 5 N m"'
array kinds[4] = [1, 2, 1, 2]
array dashes[4] = [1, 1, 2, 2]
set xrange [0:0.7]
set xtics 0.1
set multiplot layout 2, 1 margins 0.10, 0.81, 0.105, 0.93 spacing 0, 0.05
set label 100 'Where the pole is grasped, and the stiffness of the torque spring' at screen 0.97, 0.97 right
last(i, column) = system(sprintf("awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } END { print -$c[\"%s\"] }' out/push-%s-motion.csv", column, word(runs, i))) + 0
set format x ''
do for [panel = 1:2] {
    column_name = panel == 1 ? 'device_fy' : 'device_tz'
    set ylabel panel == 1 ? 'rendered force [N]' : 'rendered torque [N m]' offset 1
    if (panel == 2) {
        set format x '%g'
        set xlabel 'time [s]'
        unset label 100
    }
    do for [i = 1:4] { set label i word(names, i) at 0.71, last(i, column_name) textcolor linetype kinds[i] }
    plot for [i = 1:4] 'out/push-' . word(runs, i) . '-motion.csv' using 'time':(-column(column_name)) \
        linetype kinds[i] dashtype dashes[i]
}
unset multiplot
