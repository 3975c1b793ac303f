# awk -v name=NAME -f row.awk TEXT     what siminfo says of a cubature, then a table of simcompare for each reference
# One line: name, elements, training error, held-out error, nested elements, nested error, then position and velocity error for
# each reference; "-" where there is none or a motion failed.

$1 == "elements" && $2 ~ /^[0-9]+$/ && NF == 2 { elements = $2 }
$1 ~ /^(training_error|held_out_error|nested_elements|nested_error)$/ { value[$1] = $2 }
/^(position|velocity) L2,/ { split($0, cell, ","); errors = errors " " cell[5] }
/^failed/ { errors = errors " - -" }

function given(key) { return key in value ? value[key] : "-" }

END { print name, elements, given("training_error"), given("held_out_error"), given("nested_elements"), given("nested_error") errors }
