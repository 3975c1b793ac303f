# What all samples share. A Makefile includes this first; one whose OUT is another sets it before.

TOOLS ?= ../../build/tools
export PATH := $(TOOLS):$(PATH)

# Where everything is written, as seen from the sample and from the repository; and what `make clean` removes.
OUT ?= out
folder = $(patsubst $(abspath ../..)/%,%,$(abspath $(OUT)))
MADE ?= $(OUT)

# The command $(1), and the milliseconds it took in a file beside its target.
timed = start=$$(date +%s%N) && $(1) && echo $$((($$(date +%s%N) - start) / 1000000)) >$@.ms

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all clean

clean:
	rm -rf $(MADE)

$(OUT):
	mkdir -p $@
