# Yang et al. 2015, Figure 9: the error on the poses of the training grows to its bound, that on others falls to its own.
load '< supple-plot --style png --size 1000x600'
set output target
set title 'Error of the force over the number of poses in the training'
set xlabel 'poses T'
set ylabel 'relative error of the force'
stats "<awk '$1 > 0 && $6 < 0.002' ".source using 1 name 'poses' nooutput
stats "<awk '$1 > 0 && $6 < 0.002' ".source using 6 name 'below' nooutput
set logscale xy
set yrange [0.002:1]
set format y '%g'
set datafile separator whitespace
set key maxcols 2
set label sprintf("below the axis: modal,\nat most %.0e up to T = %d", below_max, poses_max) at 26, 0.0037 textcolor rgb word(colours, 3)
plot source using 1:2 with linespoints linetype 1 pointtype 7 title 'greedy, on the T poses', \
     '' using 1:3 with linespoints linetype 1 pointtype 6 dashtype 2 title 'greedy, on others', \
     '' using 1:4 with linespoints linetype 2 pointtype 5 title 'nnls, on the T poses', \
     '' using 1:5 with linespoints linetype 2 pointtype 4 dashtype 2 title 'nnls, on others', \
     '' using 1:6 with linespoints linetype 3 pointtype 9 title 'modal, on the T poses', \
     '' using 1:7 with linespoints linetype 3 pointtype 8 dashtype 2 title 'modal, on others'
