# awk -F, -v key=COLUMN -f compare.awk ONE.csv TWO.csv: compares each row of TWO with the row of ONE that has the same
# value in the column `key`, by all columns of TWO that ONE has too, but for step and time. It prints how many rows are
# equal, and the largest difference of the rendered force. With -v same=1 it fails where a row differs.
function difference_of_force(row, i, d, sum) {
    for (i = 1; i <= 3; i++) {
        d = one[row, "device_f" substr("xyz", i, 1)] - $at["device_f" substr("xyz", i, 1)]
        sum += d * d
    }
    return sqrt(sum)
}
FNR == 1 {
    for (i = 1; i <= NF; i++) {
        at[$i] = i
        name[i] = $i
        if (NR == 1) known[$i] = 1
    }
    next
}
NR == FNR {
    for (i = 1; i <= NF; i++) one[$at[key], name[i]] = $i
    next
}
{
    row = $at[key]
    same_row = (row, key) in one
    for (i = 1; i <= NF; i++)
        if (name[i] in known && name[i] != "step" && name[i] != "time") same_row = same_row && one[row, name[i]] "" == $i ""
    rows++
    equal += same_row
    if ((d = difference_of_force(row)) > most) most = d
}
END {
    printf "%d of %d states equal to the last bit, the largest difference of the force %.3g N\n", equal, rows, most
    exit same && (!rows || equal < rows)
}
