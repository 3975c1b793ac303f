# awk -v name=NAME -f deviation.awk TEXT     what siminfo says of a cubature
# One line: name, elements, training error, held-out error, mean deviation on the training, mean deviation on the held-out poses.

$1 == "elements" && $2 ~ /^[0-9]+$/ && NF == 2 { elements = $2 }
$1 ~ /^(training|held_out)_(error|deviation)$/ { value[$1] = $2 }
END { print name, elements, value["training_error"], value["held_out_error"], value["training_deviation"], value["held_out_deviation"] }
