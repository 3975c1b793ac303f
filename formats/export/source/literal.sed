# Each line of a text as a string literal of C
s/\\/\\\\/g
s/"/\\"/g
s/.*/"&\\n"/
