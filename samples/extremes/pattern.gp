# gnuplot -c pattern.gp OUT.png FOLDER: the patterns that pattern.py wrote, as in Figure 2.10 of the thesis.
load '< supple-plot --style png --size 1100x1180'
set output ARG1
set palette defined (0 '#F4F6F8', 1 '#1F4E79')
set cbrange [0:1]
unset colorbox
unset key
unset tics
set size ratio 1
set yrange [*:*] reverse
set autoscale xfix
set autoscale yfix
titles = '"M, natural order" "its Cholesky factor L" "M, ordered by minimum degree" "its Cholesky factor L"'
files = 'M-natural L-natural M-degree L-degree'
set multiplot layout 2, 2 margins 0.02, 0.98, 0.02, 0.93 spacing 0.03, 0.06 title 'Where the mass matrix of a bridge and its Cholesky factor have entries'
do for [i = 1:4] {
    set title word(titles, i) offset 0, -0.6
    plot ARG2 . '/' . word(files, i) . '.dat' matrix with image
}
unset multiplot
