# awk -v body=… -v limit=0.05 -v chosen='model,r,elements …' -f verdict.awk table.csv
# Says the velocity error of each chosen row of simvalidate's table; exit 1 where one is missing or above the limit.

BEGIN { FS = ","; count = split(chosen, wanted, " ") }
{
    for (i = 1; i <= count; i++)
        if ($1 "," $2 "," $3 ~ "^" wanted[i] "$") {
            good = $5 != "" && $5 + 0 <= limit
            printf "%s, %s with r = %s%s: velocity off by %.2f %%, position by %.2f %%%s\n", body, $1, $2, $1 == "cubature" ? " and " $3 " elements" : "",
                100 * $5, 100 * $4, good ? "" : ": more than the limit"
            found++
            failed += !good
        }
}
END { exit failed || found < count }
