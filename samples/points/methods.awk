{ sub(/^result /, "") }
$1 == "level_points" { gsub(/[\[\],]/, ""); points = $2 }
$1 == "spacing" { gsub(/[\[\],]/, ""); spacing = $2 }
$1 == "least" { gsub(/[\[\],]/, ""); least = $2 }
$1 == "spread" { gsub(/[\[\],]/, ""); spread = $2 }
$1 == "gap" { gap = $2 }
END { printf "%-10s %6d points   apart %5.2f mm, at least %5.2f mm   spread %.3f   gap %5.2f mm\n", m, points, 1000 * spacing, 1000 * least, spread, 1000 * gap }
