# gnuplot -c map.gp OUT.png FILE.csv LABEL FILE.csv LABEL: which h and beta are stable, of two ways beside one another.
load '< supple-plot --style png --size 1200x600'
set output ARG1
set datafile separator ','
set multiplot layout 1,2
set logscale xy
set xlabel 'time step h [ms]'
set ylabel 'β'
set xrange [1.8:28]
set yrange [0.14:5.6]
set xtics (2.5, 5, 10, 20)
set ytics (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 4)
set key outside bottom center horizontal
do for [i = 1:2] {
    file = i == 1 ? ARG2 : ARG4
    set title (i == 1 ? ARG3 : ARG5)
    plot file skip 1 using (1000 * $1):($3 > 0 ? $2 : NaN) with points pointtype 7 pointsize 2 linetype 3 title 'stable', \
        file skip 1 using (1000 * $1):($3 > 0 ? NaN : $2) with points pointtype 2 pointsize 2 linetype 2 title 'unstable'
}
