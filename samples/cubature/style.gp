# What the plots of this sample have in common; loaded before each of them.
set encoding utf8
set terminal pngcairo noenhanced size 1000,600 font 'sans,12'
set datafile separator ','
set datafile missing NaN
set grid linetype 1 linewidth 0.7 dashtype 1 linecolor rgb '#D8D8D8'
set border linecolor rgb '#404040'
# Colours that stay apart for colour-blind readers (Okabe and Ito).
set linetype 1 linewidth 2 linecolor rgb '#0072B2'
set linetype 2 linewidth 2 linecolor rgb '#D55E00'
set linetype 3 linewidth 2 linecolor rgb '#009E73'
set linetype 4 linewidth 2 linecolor rgb '#CC79A7'
set linetype 5 linewidth 2 linecolor rgb '#000000'
