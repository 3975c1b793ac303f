# gnuplot -c map.gp OUT.png FILE.csv LABEL FILE.csv LABEL: which h and beta are stable, of two ways beside one another.
set encoding utf8
set terminal pngcairo noenhanced size 1000,450 font 'sans,12'
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
set grid linetype 1 linewidth 0.7 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
set key outside bottom center horizontal
do for [i = 1:2] {
    file = i == 1 ? ARG2 : ARG4
    set title (i == 1 ? ARG3 : ARG5)
    plot file skip 1 using (1000 * $1):($3 > 0 ? $2 : NaN) with points pointtype 7 pointsize 2 linecolor rgb '#009E73' title 'stable', \
        file skip 1 using (1000 * $1):($3 > 0 ? NaN : $2) with points pointtype 2 pointsize 2 linewidth 2 linecolor rgb '#D55E00' title 'unstable'
}
