# Figure 6: |U^T M U| of the first 30 inertia modes, as colours.
load '< supple-plot --style png --size 1560x400'
set output target
set datafile separator ','
set datafile missing NaN
names = 'raw reduced-0.1 reduced-0.01 reduced-0.001 exact'
labels = '"not orthogonalized" "threshold 0.1" "threshold 0.01" "threshold 0.001" "exact"'
set multiplot title '|U^T M U| of the first 30 of 240 inertia modes'
set palette defined (0 '#FFFFFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')
set cbrange [1e-4:1]
set logscale cb
set format cb '10^{%T}'
set termoption enhanced
unset key
unset grid
unset tics
set cbtics
set xrange [-0.5:29.5]
set yrange [29.5:-0.5]
set size ratio 1
unset colorbox
do for [i = 1:5] {
    if (i == 5) { set colorbox user origin 0.955, 0.17 size 0.012, 0.62 }
    set lmargin at screen 0.01 + (i - 1) * 0.188
    set rmargin at screen 0.19 + (i - 1) * 0.188
    set bmargin at screen 0.05
    set tmargin at screen 0.80
    set title word(labels, i)
    plot 'out/' . word(names, i) . '-gram.csv' skip 1 matrix using 1:2:(abs($3) > 1e-4 ? abs($3) : 1e-4) with image
}
unset multiplot
