# awk -v head=COLUMN -v back=COLUMN -f table.awk LOAD-MODEL-{probe,error,missed}.csv ... MODEL.ms ... spectra.csv
# Displacements where a load pushes, tables of simcompare (each a model against the unreduced one, and how much of the unreduced
# motion a basis misses), times per step in ms, and frequencies, as three tables.

BEGIN { FS = ","; column["head"] = head; column["back"] = back }
FNR == 1 { name = FILENAME; sub(/.*\//, "", name) }
name ~ /\.ms$/ { sub(/\.ms$/, "", name); cost[name] = $1; next }
name ~ /^spectra/ { kind[++kinds] = $1; low[kinds] = $2; high[kinds] = $3; next }
FNR == 1 { load = substr(name, 1, 4); model = substr(name, 6); sub(/-[a-z]*\.csv$/, "", model) }
$1 == "leading" { missed[load, model] = $6 } # the last line is of all columns
name ~ /-probe\.csv$/ {
    if (FNR == 1) {
        if (load == "head")
            order[++models] = model
        for (i = 1; i <= NF; i++)
            if ($i == column[load])
                wanted = i
    } else if (FNR <= 32 && size($wanted) > size(swing[load, model])) # the state at rest and 30 steps
        swing[load, model] = $wanted
}
$1 == "position L2" { position[load, model] = $5 }
$1 ~ / amplitude$/ { amplitude[load, model] = $2; full[load] = $3 }

function size(x) { return x < 0 ? -x : x + 0 }

function label(model, part) {
    if (model == "full")
        return "unreduced"
    return split(model, part, "-") == 2 ? "k = " part[1] ", r = " part[2] : model
}

function percent(ratio) { return sprintf("%+.1f %%", 100 * (ratio - 1)) }

END {
    for (l = 1; l <= 2; l++) {
        load = l == 1 ? "head" : "back"
        printf "%-16s%12s%10s%18s%17s%17s%14s\n", "\"" load "\"", "first swing", "error", "amplitude error", "position error", "basis misses", l == 1 ? "ms per step" : ""
        for (i = 1; i <= models; i++) {
            model = order[i]
            printf "%-16s%10.4f m", label(model), swing[load, model]
            printf "%10s%18s", model == "full" ? "" : percent(swing[load, model] / swing[load, "full"]), model == "full" ? "" : percent(amplitude[load, model] / full[load])
            printf "%17s", model == "full" ? "" : sprintf("%.1f %%", 100 * position[load, model])
            printf "%17s", (load, model) in missed ? sprintf("%.1f %%", 100 * missed[load, model]) : ""
            printf "%14s\n", l == 2 ? "" : sprintf(cost[model] < 10 ? "%.2g" : "%.0f", cost[model])
        }
        print ""
    }
    printf "%-26s%12s%12s\n", "frequencies", "lowest", "highest"
    for (i = 1; i <= kinds; i++)
        printf "%-26s%9.4g Hz%9.4g Hz\n", kind[i], low[i], high[i]
}
