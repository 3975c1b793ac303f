# A line for each thickness: the deflections of the three materials under 400 N, in mm, and the first frequency in steel.
NR == 1 {
    print "thickness  magnesium  aluminium  steel      first frequency in steel"
    next
}
$4 == 400 {
    split($1, word, "-")
    deflection[word[1]] = $6 * 1000
    if (word[1] == "steel")
        printf "%5.0f mm   %6.3f mm  %6.3f mm  %6.3f mm  %6.0f Hz\n", $2 * 1000, deflection["magnesium"],
            deflection["aluminium"], deflection["steel"], $5
}
