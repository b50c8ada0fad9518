/* setjmp.h - there is none for WebAssembly, and tests/wasm/cmocka.h needs none. */
