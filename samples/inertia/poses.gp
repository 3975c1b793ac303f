# Figure 8: a strip of poses for each basis, one below the other.
set output target
set terminal pngcairo noenhanced size 1500,1130 font 'sans,14'
unset border
unset tics
unset key
unset grid
set size ratio -1
names = 'full linear first modal higher'
labels = '"full simulation" "(a) 2 inertia modes" "(b) and their 3 derivatives" "(c) 20 of 8 modes and 36 derivatives" "(d) 20 of 2 inertia modes and derivatives up to order 3"'
set multiplot
set lmargin 0
set rmargin 0
set tmargin 0
set bmargin 0
do for [i = 1:5] {
    set origin 0, (5.0 - i) * 226.0 / 1130.0
    set size 1, 210.0 / 1130.0
    set label 1 word(labels, i) at graph 0.005, 0.93 front textcolor rgb '#202020'
    plot 'out/' . word(names, i) . '-poses.png' binary filetype=png with rgbimage
}
unset multiplot
