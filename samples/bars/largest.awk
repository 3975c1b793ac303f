# Rows of largest steps by model ($1) and Young's modulus ($2), for steps.awk and inverted.awk.
!($2 in seen) { seen[$2] = ++n; young[n] = $2 }
function row(label, text,   i, word) {
    split(text, word)
    printf "%-52s", label
    for (i = 1; i <= n; i++) printf "%7s", word[i]
    print ""
}
function found(array, model,   i, text) {
    for (i = 1; i <= n; i++) text = text " " ((model, young[i]) in array ? array[model, young[i]] : "<1")
    return text
}
