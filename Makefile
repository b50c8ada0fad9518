# Makefile - builds, tests and installs everbloom.  GNU make; `make help` lists the targets.
#
# Everything built goes under build/<flavour>/: make FLAVOUR=asan, tsan, clang, fuzz, steps, hidden, arm64 or wasm for the others.
# New source files are found by themselves, in any folder of src/ and cli/, and in lab/, redis/ and tests/test_*.c.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
FLAVOUR ?= release
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 90
FUZZ_RUNS ?= 10000

# The version is written in the public header and nowhere else.
VERSION := $(shell sed -n 's/^\#define EB_VERSION "\(.*\)".*/\1/p' include/everbloom/everbloom.h)
# While the version is 0.x every minor version may change the interface: so.0.1; from 1.0 on: so.1.
SONAME := libeverbloom.so.$(shell echo $(VERSION) | sed -e 's/^\(0\.[0-9]*\).*/\1/' -e t -e 's/\..*//')

# ---- Flavours: the compiler, its flags, and flags of the library alone (asserts stay in asan, tsan and fuzz).
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CC.release = $(CC)
CC.asan = $(CC)
CC.tsan = $(CC)
CC.clang = clang
CC.fuzz = clang
CC.steps = gcc
CC.hidden = $(CC)
CC.arm64 = aarch64-linux-gnu-gcc
CC.wasm = clang
CXX.release = $(CXX)
CXX.asan = $(CXX)
CXX.tsan = $(CXX)
CXX.clang = clang++
FLAGS.release = -O2 -g
FLAGS.asan = -O1 -g $(SANITIZE)
FLAGS.tsan = -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FLAGS.clang = -O2 -g
FLAGS.steps = -O2 -g
FLAGS.hidden = -O1
FLAGS.fuzz = -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
# xxhash.h is the same for every machine, but installed for this one: look there last.
FLAGS.arm64 = -O2 -g -static -idirafter /usr/include
# 32 bits, for JavaScript: pointers and size_t have 4 bytes, blocks and snapshots are the same.
# clang 14 makes wrong vectors of some loops (tight_fit never ended with -Os), so none of them are made.
FLAGS.wasm = --target=wasm32-wasi -Os -msimd128 -fno-vectorize -fno-slp-vectorize -idirafter /usr/include
LIBFLAGS.release = -DNDEBUG
LIBFLAGS.clang = -DNDEBUG
# Every basic block of the library calls a function of the test, which counts.
LIBFLAGS.steps = -DNDEBUG -fsanitize-coverage=trace-pc -Wno-error
LIBFLAGS.arm64 = -DNDEBUG
LIBFLAGS.wasm = -DNDEBUG -fno-PIC
LIBFLAGS.hidden = -DNDEBUG -DEB_API= # for a host's module: no symbol is visible
$(if $(FLAGS.$(FLAVOUR)),,$(error FLAVOUR must be release, asan, tsan, clang, fuzz, steps, hidden, arm64 or wasm, not $(FLAVOUR)))

B := build/$(FLAVOUR)
COMPILE = $(CC.$(FLAVOUR)) -std=c11 -Iinclude -Isrc $(CPPFLAGS) $(FLAGS.$(FLAVOUR)) $(WARNINGS) $(CFLAGS)
LINK = $(CC.$(FLAVOUR)) $(FLAGS.$(FLAVOUR)) $(CFLAGS) $(LDFLAGS)
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wvla -Werror

# What tests of this flavour are compiled, linked and run with.
THREADS := -pthread
CMOCKA := -lcmocka
ifeq ($(FLAVOUR),wasm)
THREADS :=
$(B)/tests/%.o: CFLAGS += -Itests/wasm -Wno-shorten-64-to-32 # their streams are short
CMOCKA := -Wl,-z,stack-size=8388608 -Wl,--stack-first
AR := llvm-ar
LDFLAGS += -O0 # or clang runs wasm-opt, over tests too
RUN := tests/wasm/run.mjs
endif

# The command takes the libraries that are there; the library itself needs none of them.  It looks again when headers
# were installed: `make test` on a fresh machine reads this file before it installs them.
$(B)/libraries.mk: $(B)/libraries.seen ;
$(B)/libraries.seen: .ci/libraries Makefile $(wildcard /usr/include /usr/local/include)
	@mkdir -p $(@D)
	@.ci/libraries $(CC.$(FLAVOUR)) $(FLAGS.$(FLAVOUR)) >$@
	@cmp -s $@ $(B)/libraries.mk || cp $@ $(B)/libraries.mk
-include $(B)/libraries.mk

# ---- What there is to build.
objects = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)))
tree = $(sort $(shell find $(1) -name '*.[ch]')) # all sources in a folder and the folders in it
LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter %.c,$(call tree,src)))
CLI_OBJ := $(patsubst %.c,$(B)/%.o,$(filter %.c,$(call tree,cli)))
LAB_OBJ := $(call objects,lab/*.c lab/rivals/*.c)
HELPER_OBJ := $(filter-out $(B)/tests/test_% $(B)/tests/fuzz.o,$(call objects,tests/*.c))
TESTS := $(patsubst %.o,%,$(call objects,tests/test_*.c))
HOSTS := $(addprefix $(B)/tests/hosts/,pipe server aggregate sqlite columns page threads)
LIB := $(B)/libeverbloom.a
SHARED := $(B)/libeverbloom.so.$(VERSION)
PROGRAMS := $(addprefix $(B)/,everbloom everbloom-lab everbloom-gen)
BENCH := $(B)/everbloom-bench $(B)/everbloom-batches

.PHONY: FORCE all everything samples choosing need-build run test check tests cli-tests hosts fuzz amalgamation amalgamation-test contributing-test arm64 mutate soak bench bench-check \
	papers lint layers docs-check headers symbols format install uninstall install-test clean help

all: $(LIB) $(SHARED) $(PROGRAMS) $(B)/everbloom-redis.so ## build the library, the command and the laboratory (the default)
everything: all $(BENCH) $(TESTS)

need-build: ; @.ci/need --check build
$(B)/src/%.o: src/%.c Makefile | need-build
	@mkdir -p $(@D)
	$(COMPILE) -D_DEFAULT_SOURCE -fPIC -fvisibility=hidden $(LIBFLAGS.$(FLAVOUR)) -MMD -MP -c -o $@ $<
$(B)/cli/%.o: CPPFLAGS += -Icli $(CLI_DEFINES)
$(B)/cli/%.o: $(B)/libraries.mk
$(B)/bench/%.o $(B)/lab/%.o $(B)/tests/test_rivals.o: CPPFLAGS += -Ilab
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(COMPILE) -D_GNU_SOURCE $(THREADS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
$(B)/tests/helpers.a: $(HELPER_OBJ)
%.a:
	@rm -f $@
	$(AR) rcs $@ $^
$(B)/everbloom.map: include/everbloom/everbloom.h include/everbloom/query.h .ci/symbols
	@mkdir -p $(@D)
	@.ci/symbols map >$@
$(SHARED): $(LIB_OBJ) $(B)/everbloom.map
	$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,-Bsymbolic-functions -Wl,--version-script=$(B)/everbloom.map \
	  -o $@ $(LIB_OBJ) -lm

$(B)/everbloom: $(CLI_OBJ) $(LIB)
$(B)/everbloom: LDLIBS += $(CLI_LIBS)
$(B)/everbloom-lab: $(LAB_OBJ) $(LIB)
$(B)/everbloom-gen: $(B)/bench/gen.o
$(B)/everbloom-batches: $(B)/bench/batches.o $(LIB)
$(B)/everbloom-bench: $(filter-out $(B)/bench/gen.o $(B)/bench/batches.o,$(call objects,bench/*.c)) $(LIB)
$(B)/everbloom-bench: LDLIBS += -lbloom
$(B)/tests/test_lab $(B)/tests/test_rivals: $(filter-out $(B)/lab/main.o,$(LAB_OBJ)) # before the library, which they use
$(TESTS): %: %.o $(B)/tests/helpers.a $(LIB)
$(TESTS): LDLIBS += $(CMOCKA)
$(PROGRAMS) $(BENCH) $(TESTS):
	$(LINK) $(THREADS) -o $@ $^ $(LDLIBS) -lm
$(B)/tests/hosts/%.o: tests/hosts/%.cpp Makefile
	@mkdir -p $(@D)
	$(CXX.$(FLAVOUR)) -std=c++17 -Iinclude $(CPPFLAGS) $(FLAGS.$(FLAVOUR)) $(WARNINGS) $(CXXFLAGS) -pthread -MMD -MP -c -o $@ $<
$(B)/tests/hosts/sqlite: LDLIBS += -lsqlite3
$(B)/tests/hosts/threads: LDLIBS += -lstdc++
$(HOSTS): %: %.o $(LIB)
	$(LINK) -pthread -o $@ $^ $(LDLIBS) -lm
$(B)/tests/fuzz: $(B)/tests/fuzz.o $(B)/tests/helpers.a $(LIB)
	$(LINK) -fsanitize=fuzzer -o $@ $^ -lm

# ---- Use.
run: ## de-duplicate a generated sample and show what was found
	@.ci/need --install run
	@[ -x $(B)/everbloom ] || echo "Building: a minute at most."
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@bench/demo.sh $(B)

# ---- Proof.
test: ## everything: lint, both compilers, sanitizers, fuzzing, installation
	@.ci/need --install test
	@+MAKE="$(MAKE)" .ci/test

check: ## the quick tests: half a minute of CPU
	@EVERBLOOM_QUICK=1 $(MAKE) --no-print-directory -s -j$(JOBS) tests cli-tests

tests: $(TESTS:=.run)
$(B)/%.run: $(B)/% FORCE
	@$(RUN) $< >$<.log 2>&1 || { cat $<.log; echo "$< failed"; exit 1; }
	@echo "$(<F): $$(grep -c '^\[       OK' $<.log) passed"
FORCE:

cli-tests: $(B)/everbloom
	@tests/cli/run $(CLI_TEST_FLAGS) $(B)/everbloom $(CLI_TESTS)

hosts: $(HOSTS) $(B)/everbloom ## small programs of the kinds that everbloom lives in, which check themselves
	@for host in $(HOSTS); do case $$host in */columns) set -- $(B)/everbloom $(B)/tests/hosts ;; *) set -- ;; esac; \
	  $$host "$$@" || { echo "$$host failed"; exit 1; }; done

fuzz: $(B)/tests/fuzz ## FLAVOUR=fuzz: feed the library random bytes (FUZZ_RUNS=10000 FUZZ_SECONDS=90)
	@rm -rf $(B)/corpus && mkdir -p $(B)/corpus # a number of runs from nothing: the same every time
	@$< -runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS) -seed=1 -print_final_stats=1 -artifact_prefix=$(B)/ $(B)/corpus

# ---- The library as one file, for those who build it into their own.
A := build/amalgamation
$(A)/everbloom.c: .ci/amalgamate LICENSE Makefile $(call tree,src) src/filter/kinds.def $(wildcard include/everbloom/*.h) | need-build
	@.ci/amalgamate $(A) "$(CC)"
amalgamation: $(A)/everbloom.c ## the library in one file that needs only a C compiler, in build/amalgamation/

AMALGAMATION_TESTS := test_api test_kinds test_snapshots test_window test_lru
AMALGAMATION_RUNS := $(AMALGAMATION_TESTS:%=$(A)/%-gcc.run) $(A)/test_api-clang.run $(A)/test_kinds-clang.run
$(A)/everbloom-gcc.o: FLAGS := -O1
$(A)/everbloom-clang.o: FLAGS := -O0
$(A)/everbloom-aarch64-linux-gnu-gcc.o: FLAGS := -O1
$(A)/everbloom-%.o: $(A)/everbloom.c
	cd $(A) && $* -std=c11 $(FLAGS) $(WARNINGS) -MMD -c -o $(@F) $(<F)
	@! grep -e xxhash -e '[ /]src/' $(@:.o=.d) || { echo "$< needs more than a compiler"; exit 1; }
define AMALGAMATION_TEST
$(A)/%-$(1): $$(B)/tests/%.o $$(B)/tests/helpers.a $(A)/everbloom-$(1).o
	$$(LINK) -pthread -o $$@ $$^ -lcmocka -lm
endef
$(foreach cc,gcc clang,$(eval $(call AMALGAMATION_TEST,$(cc))))
.SECONDARY: $(AMALGAMATION_RUNS:.run=)
$(AMALGAMATION_RUNS): %.run: % FORCE
	@EVERBLOOM_QUICK=1 $< >$<.log 2>&1 || { cat $<.log; echo "$< failed"; exit 1; }
$(A)/cxx: $(A)/everbloom-gcc.o
	@echo '#include "experimental.h"' >$@.cpp; echo 'int main() { return eb_version() != EB_VERSION_NUMBER; }' >>$@.cpp
	$(CXX.release) -std=c++17 $(WARNINGS) -DEB_STATIC_ONLY -o $@ $@.cpp $< -lm && $@
amalgamation-test: $(AMALGAMATION_RUNS) $(A)/cxx $(A)/everbloom-aarch64-linux-gnu-gcc.o ## it compiles with gcc and clang, and answers and saves as the library does

contributing-test: $(B)/tests/helpers.a $(addprefix $(B)/tests/test_,kinds.o query.o answers.o) ## the kinds that CONTRIBUTING.md adds, built and tested
	@.ci/contributing-test $^

arm64: $(B)/everbloom ## the command for arm64 makes the same snapshots, in an emulator
	@$(MAKE) --no-print-directory -s -j$(JOBS) FLAVOUR=arm64 build/arm64/everbloom
	@.ci/arm64

mutate: everything ## break lines of src/ and count what `make check` notices (MUTATE_FLAGS="--rest" lets the long tests judge, too)
	@tests/mutate.py $(MUTATE_FLAGS)

soak: ## the heavy tests and hours of fuzzing (SOAK_SECONDS=3600)
	@EVERBLOOM_LARGE=1 EVERBLOOM_TEST_EVENTS=10000000 $(MAKE) FLAVOUR=release tests cli-tests CLI_TEST_FLAGS=--heavy
	@EVERBLOOM_OPERATIONS=1e8 $(MAKE) build/release/tests/test_stores.run build/release/tests/test_frozen.run
	@EVERBLOOM_OPERATIONS=1e8 $(MAKE) FLAVOUR=asan build/asan/tests/test_stores.run
	@EVERBLOOM_OPERATIONS=1e7 $(MAKE) FLAVOUR=asan build/asan/tests/test_frozen.run
	@EVERBLOOM_OPERATIONS=1e9 $(MAKE) build/release/tests/test_spectral.run
	@EVERBLOOM_OPERATIONS=1e9 $(MAKE) build/release/tests/test_wide.run build/release/tests/test_soft.run \
	  build/release/tests/test_aging.run
	@EVERBLOOM_OPERATIONS=1e8 $(MAKE) build/release/tests/test_weighted.run
	@EVERBLOOM_OPERATIONS=1e4 $(MAKE) build/release/tests/test_bloom.run
	@EVERBLOOM_OPERATIONS=1e8 $(MAKE) build/release/tests/test_window.run
	@$(MAKE) FLAVOUR=fuzz fuzz FUZZ_RUNS=-1 FUZZ_SECONDS=$(or $(SOAK_SECONDS),3600)

bench: ## speed and accuracy of every kind and of the command, kept under bench/results/
	@.ci/need --install bench
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BENCH)
	@bench/run.sh $(B) $(BENCH_FLAGS)

lab-test: $(B)/everbloom-lab ## promises of our filters on streams that nobody tuned for, in a quarter of a minute
	@$< grid short --threads 1

samples: ## the files that docs/COOKBOOK.md and docs/tutorials begin with, in build/samples
	@examples/samples.sh $(B)/../samples

choosing: $(B)/everbloom ## docs/CHOOSING.md with its plots, in build/choosing
	@examples/choosing.sh $< build/choosing

bench-check: $(BENCH)
	@$< --quick
	@$< --quick --hashing

papers: $(B)/everbloom-lab ## make the papers' experiments again, into docs/papers/ (PAPERS_FLAGS="--scale 10 --seeds 5")
	@.ci/need --install papers
	@lab/papers.sh $(B)/everbloom-lab $(PAPERS_FLAGS)

SOURCES = $(call tree,include src cli lab bench redis sql sqlite postgres duckdb tests wasm web python/src examples)
NORETURN := '__attribute__((noreturn))'# the only spelling that cppcheck understands
docs-check: ## documentation names only files, functions, options and targets that exist
	@mkdir -p build && .ci/docs-check

lint: layers docs-check ## clang-format, layers, documentation, cppcheck
	@clang-format --dry-run -Werror $(SOURCES)
	@mkdir -p build/cppcheck # where it keeps what it knows of unchanged files
	@cppcheck -j$(JOBS) --cppcheck-build-dir=build/cppcheck --quiet --std=c11 --error-exitcode=1 --enable=warning,portability,performance \
	  --inline-suppr --suppress=missingInclude --suppress=missingIncludeSystem --suppress=legacyUninitvar \
	  -D_Noreturn=$(NORETURN) -D__SIZEOF_INT128__=16 -Iinclude -Isrc -Icli -Ilab \
	  $(filter %.c,$(filter-out tests/% postgres/%,$(SOURCES))) # whose macros it does not know

layers: ## no #include points to the right in base < math < cells < filter < api < query < front ends
	@.ci/layers
	@printf '#include "%s"\n' $(filter %.c,$(call tree,src)) | $(CC) -std=c11 -I. -Iinclude -Isrc -D_DEFAULT_SOURCE -Wall -Wextra \
	  -Werror -fsyntax-only -x c - || { echo "layers: names that two files of src/ share: begin them with the file's"; exit 1; }

headers: ## the public headers stand alone in C99, C11 and C++17, those of src/ in C11
	@for h in $(filter %.h,$(call tree,src)); do echo "#include \"$$h\"" | $(CC) -x c -std=c11 -I. -Iinclude -Isrc \
	  -D_DEFAULT_SOURCE -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only - || exit 1; done
	@for h in include/everbloom/*.h; do for std in c99 c11 c++17; do for cc in gcc clang; do \
	  echo "#include <everbloom/$${h##*/}>" | $$cc -x $${std%%[0-9]*} -std=$$std -pedantic -Wall -Wextra \
	    -Werror -Iinclude -DEB_STATIC_ONLY -fsyntax-only - || exit 1; done; done; done
	@for h in include/everbloom/*.hpp; do for cc in gcc clang; do \
	  echo "#include <everbloom/$${h##*/}>" | $$cc -x c++ -std=c++17 -pedantic -Wall -Wextra -Wconversion -Wshadow \
	    -Werror -Iinclude -fsyntax-only - || exit 1; done; done

symbols: $(SHARED) $(LIB) ## the shared library exports what src/symbols lists; a host's module exports nothing of ours
	@$(MAKE) --no-print-directory -s FLAVOUR=hidden build/hidden/libeverbloom.a
	@.ci/symbols check $(SHARED) $(LIB) build/hidden/libeverbloom.a "$(CC)"

format: ## let clang-format lay out every source file
	@clang-format -i $(SOURCES)

include redis/redis.mk
include python/python.mk
include packaging/packages.mk
include sql/sql.mk
include sqlite/sqlite.mk
include postgres/postgres.mk
include duckdb/duckdb.mk
include wasm/wasm.mk
include web/web.mk

# ---- Installation.
define PC
prefix=$(PREFIX)
includedir=$(INCLUDEDIR)
libdir=$(LIBDIR)

Name: everbloom
Description: small summaries of endless streams: the Bloom filter family
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -leverbloom
Libs.private: -lm
endef

COMPLETIONS := bash-completion/completions/everbloom zsh/site-functions/_everbloom \
	fish/vendor_completions.d/everbloom.fish

install: all ## PREFIX (/usr/local) and DESTDIR
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/everbloom
	install -m 755 $(B)/everbloom $(DESTDIR)$(BINDIR)
	install -m 644 $(LIB) $(SHARED) $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libeverbloom.so
	install -m 644 include/everbloom/*.h include/everbloom/*.hpp $(DESTDIR)$(INCLUDEDIR)/everbloom
	install -d $(DESTDIR)$(LIBDIR)/cmake/everbloom
	for file in config config-version; do sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SHARED@|$(notdir $(SHARED))|' \
	  -e 's|@SONAME@|$(SONAME)|' -e 's|@INCLUDE@|'$$(realpath -ms --relative-to=$(LIBDIR)/cmake/everbloom $(INCLUDEDIR))'|' \
	  packaging/everbloom-$$file.cmake >$(DESTDIR)$(LIBDIR)/cmake/everbloom/everbloom-$$file.cmake || exit 1; done
	$(file >$(B)/everbloom.pc,$(PC))
	install -m 644 $(B)/everbloom.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	install -d $(addprefix $(DESTDIR)$(DATADIR)/,man/man1 $(dir $(COMPLETIONS)))
	for page in $$($(B)/everbloom --generate pages); do \
	  $(B)/everbloom --generate man $$page >$(DESTDIR)$(DATADIR)/man/man1/$$page.1 || exit 1; done
	.ci/reference $(DESTDIR)$(DATADIR)/man/man3
	for shell in bash zsh fish; do for file in $(COMPLETIONS); do case $$file in $$shell*) \
	  $(B)/everbloom --generate $$shell >$(DESTDIR)$(DATADIR)/$$file || exit 1; esac; done; done
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig # or programs would not find the library

uninstall: ## the same PREFIX and DESTDIR
	rm -f $(DESTDIR)$(BINDIR)/everbloom $(DESTDIR)$(LIBDIR)/libeverbloom.* \
	  $(DESTDIR)$(LIBDIR)/pkgconfig/everbloom.pc $(DESTDIR)$(DATADIR)/man/man1/everbloom*.1 \
	  $(DESTDIR)$(DATADIR)/man/man3/eb_*.3 $(DESTDIR)$(DATADIR)/man/man3/everbloom.3 \
	  $(addprefix $(DESTDIR)$(DATADIR)/,$(COMPLETIONS))
	rm -rf $(DESTDIR)$(INCLUDEDIR)/everbloom $(DESTDIR)$(LIBDIR)/cmake/everbloom

install-test: ## install into a folder under build/ and build README's example against it
	@+MAKE="$(MAKE)" .ci/install-test

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

-include $(patsubst %.o,%.d,$(wildcard $(LIB_OBJ) $(CLI_OBJ))) $(wildcard $(B)/*/*.d $(B)/tests/hosts/*.d)
