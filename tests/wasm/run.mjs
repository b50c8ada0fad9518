#!/usr/bin/env -S node --no-warnings --experimental-wasi-unstable-preview1 --single-threaded-gc
// run.mjs PROGRAM ARGUMENTS: runs a program that was compiled for wasm32-wasi, in this folder.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [program, ...args], env: process.env, preopens: { '/': process.cwd() }, returnOnExit: true });
const module = await WebAssembly.compile(readFileSync(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
