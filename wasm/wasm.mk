# wasm.mk - the library for JavaScript: WebAssembly, where sizes have 32 bits, and an npm package around it.
.PHONY: wasm wasm-test

# Tests of the library that run as they are in WebAssembly: the golden snapshots are made again, byte for byte.
# node 20 without --single-threaded-gc ended with a segmentation fault in half of the runs of test_kinds, after the last test.
WASM_TESTS := $(addprefix build/wasm/tests/test_,api golden kinds models lru snapshots keys base cells stores sizes memory)
build/wasm/tests/test_kinds.run: export EVERBLOOM_QUICK := 1
N := build/npm

# A module that JavaScript calls.
define LINK_MODULE
$(LINK) -mexec-model=reactor -Wl,-z,stack-size=4194304 -Wl,--stack-first -Wl,--strip-all -o $@ $^ -lm
wasm-opt -Os --enable-bulk-memory --enable-simd -o $@ $@
endef

ifeq ($(FLAVOUR),wasm)
# What every key goes through is made fast, the rest small.
$(addprefix $(B)/src/,base/%.o filter/stream/lru/%.o filter/stream/window/window_loop.o filter/membership/bloom.o filter/fading/aging.o api/batch.o api/keys.o): CFLAGS += -O2
$(N)/everbloom.wasm: $(B)/wasm/glue.o $(LIB)
	@mkdir -p $(@D)
	$(LINK_MODULE)
$(N)/package: $(N)/everbloom.wasm wasm/everbloom.mjs wasm/everbloom.d.mts wasm/package.json docs/JAVASCRIPT.md LICENSE Makefile
	@cp wasm/everbloom.mjs wasm/everbloom.d.mts LICENSE $(@D) && cp docs/JAVASCRIPT.md $(@D)/README.md
	@sed 's/"version": "[^"]*"/"version": "$(VERSION)"/' wasm/package.json >$(@D)/package.json && touch $@
wasm: $(N)/package
wasm-test: $(WASM_TESTS:=.run) $(N)/package ## FLAVOUR=wasm: the library's tests with 32-bit sizes, and those of the package
	@$(MAKE) --no-print-directory -s FLAVOUR=release build/release/everbloom
	@node --test tests/wasm/
else
wasm: ## the library as an npm package, in build/npm/
	@.ci/need --check wasm
	@$(MAKE) --no-print-directory -s -j$(JOBS) FLAVOUR=wasm wasm
endif
