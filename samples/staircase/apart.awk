# awk -F, -f apart.awk ONE.csv OTHER.csv: how far each of the 15 dragons is from itself in the other motion, at whole half seconds.
FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; file++; next }
file == 1 { for (i = 1; i <= NF; i++) one[FNR, i] = $i; next }
{
    if ($1 * 2 - int($1 * 2 + 1e-6) > 1e-6) next
    sum = most = 0
    for (k = 0; k < 15; k++) {
        d = 0
        for (a = 1; a <= 3; a++) {
            c = column[FILENAME, "dragon" k "." substr("xyz", a, 1)]
            d += ($c - one[FNR, c]) ^ 2
        }
        sum += sqrt(d) / 15
        if (sqrt(d) > most) most = sqrt(d)
    }
    printf "%8.1f s  mean %6.3f m  most %6.3f m\n", $1, sum, most
}
