# What all samples share. A Makefile includes this first; one whose OUT is another sets it before.

# The programs of a build in the checkout, else those that are installed. Installed samples are copied to a folder of one's own first.
TOOLS ?= $(wildcard ../../build/tools)
export PATH := $(if $(TOOLS),$(TOOLS):)$(PATH)

# Where everything is written, as seen from the sample and from the repository; and what `make clean` removes.
OUT ?= out
folder = $(patsubst $(abspath ../..)/%,%,$(abspath $(OUT)))
MADE ?= $(OUT)

# The command $(1), and the milliseconds it took in a file beside its target.
timed = start=$$(date +%s%N) && $(1) && echo $$((($$(date +%s%N) - start) / 1000000)) >$@.ms

# The command $(1) on one thread, three times, and the least processor time in s in a file beside its target.
spent = for run in 1 2 3; do python3 ../wire/spent.py $@.$$run $(1) -t 1 -q -o $@ || exit; done; sort -g $@.1 $@.2 $@.3 | head -n 1 >$@.s

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all clean thumbnail

clean:
	rm -rf $(MADE)

$(OUT):
	mkdir -p $@

# What a build of Supple can lack: a Makefile names it in NEEDS before it includes this file, and make ends before any work where the
# programs do not have it. They are asked for a result of files that do not exist.
sound_asked = simsound none.npz none.npz --listener 0,0,1 -o none.wav
page_asked = simexport none.npz none.npz none.npz -o none.html
ifneq ($(filter-out clean,$(or $(MAKECMDGOALS),all)),)
lacking := $(strip $(foreach need,$(NEEDS),$(shell PATH='$(PATH)' && $($(need)_asked) 2>&1 | grep 'this build')))
ifneq ($(lacking),)
$(error $(lacking): scripts/prepare $(NEEDS) installs what is missing; then configure and build again)
endif
endif

# The small picture in samples/README.md. scripts/gallery makes it for every sample that has a rule for it.
thumbnail: $(OUT)/thumbnail.png
