# Prints the table of variants: 10 thicknesses, 3 materials and 2 loads.
BEGIN {
    print "name,thickness,modulus,load"
    split("magnesium aluminium steel", material, " ")
    split("45e9 70e9 210e9", modulus, " ")
    for (layers = 2; layers <= 11; layers++)
        for (i = 1; i <= 3; i++)
            for (load = 200; load <= 400; load += 200)
                printf "%s-%d-%d,%g,%s,%d\n", material[i], 2 * layers, load, 0.002 * layers, modulus[i], load
}
