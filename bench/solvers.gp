# gnuplot -c solvers.gp TABLE PICTURE: time and peak memory of the solvers over the size of a mesh, as SVG, from the table of the section "Solvers
# with distributed memory" of docs/performance.md: lines "| tetrahedra | `solver` | time, s | processor time, s | peak memory, GB |".
load "< scripts/supple-plot --style svg --size 1100x460"
set output ARG2
solvers = 'blocks slepc amg'
rows(i) = sprintf("< awk -F'|' '/^###* /{on = /Solvers with distributed memory/} on && $3 ~ /[^a-z]%s[^a-z]/ && $6 ~ /[0-9]/{gsub(/,/, \"\", $2); print $2, $4, $6}' %s", word(solvers, i), ARG1)
set logscale xy
set xlabel 'tetrahedra'
set xrange [8e4:2e7]
set xtics ('100,000' 1e5, '1 million' 1e6, '10 million' 1e7)
set key bottom right vertical
set multiplot layout 1, 2 margins 0.1, 0.98, 0.21, 0.95 spacing 0.12
set ylabel 'time on two threads [s]'
plot for [i = 1:3] rows(i) using 1:2 with linespoints linetype i pointtype i title word(solvers, i)
unset key
set ylabel 'peak memory [GB]'
plot for [i = 1:3] rows(i) using 1:3 with linespoints linetype i pointtype i notitle
unset multiplot
