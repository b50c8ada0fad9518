// wasm.mjs - batches in WebAssembly beside the same batches in C and npm's bloom-filters, in one run:
//
//     make wasm && make build/release/everbloom-batches
//     npm install --prefix build/peers bloom-filters@3.0.4
//     node bench/wasm.mjs [ROUNDS]
//
// Nanoseconds a key in batches of 4096 keys.  All take turns in rounds, and of each batch the least of its rounds counts, so that
// other work of the machine does not.  JavaScript's texts are strings, which must be written as bytes first; that counts.  They are
// strings as split() gives them; those that were put together and never read cost 4 ns more.  Hashes are 64-bit numbers, as hash() gives them.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import everbloom from '../build/npm/everbloom.mjs';

const KEYS = 200000, BATCH = 4096, PEER_KEYS = 20000, PEER_BATCH = 128, AT_MOST = 4, AT_LEAST = 20;
const SPECS = ['bloom:distinct=1e6,fpr=0.01', 'lru:memory=1M', 'window:memory=1M,window=100000', 'choosy:memory=1M', 'spectral:memory=1M',
  'spectral_rm:memory=1M', 'decay:memory=1M', 'aging:memory=1M', 'stable:memory=1M', 'rlbsbf:memory=1M'];
const COLUMNS = ['add texts', 'ask texts', 'add hashes', 'ask hashes'];
const rounds = Number(process.argv[2] ?? 25);
const { Filter } = await everbloom();
const texts = Array.from({ length: KEYS }, (_, i) => `user-${(i * 7919) % 10000019}@example.org`).join('\n').split('\n');

function batches(keys, size = BATCH) {
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size));
}
const textBatches = batches(texts);

/** The time of each batch goes into `least`, if it is less than what is there. */
function time(least, all, work) {
  all.forEach((batch, i) => {
    const start = process.hrtime.bigint();
    work(batch);
    least[i] = Math.min(least[i] ?? Infinity, Number(process.hrtime.bigint() - start));
  });
}

const filters = SPECS.map((spec) => {
  const f = new Filter(spec);
  return { f, hashBatches: batches(f.hash(texts)), least: COLUMNS.map(() => []) };
});
function ours({ f, hashBatches, least }) {
  [textBatches, hashBatches].forEach((all, i) => {
    f.clear();
    time(least[2 * i], all, (batch) => f.add(batch));
    time(least[2 * i + 1], all, (batch) => f.has(batch));
  });
}

const program = spawn('build/release/everbloom-batches', [KEYS, ...SPECS], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
async function theirs() {
  program.stdin.write('round\n');
  const all = (await answers.next()).value.trim().split(' ').map(Number);
  return SPECS.map((_, i) => all.slice(4 * i, 4 * i + 4));
}

/** bloom-filters has no batches, and takes so long that fewer keys are timed at once; a filter of as many keys and the same rate. */
const { BloomFilter } = createRequire(resolve('build/peers/package.json'))('bloom-filters');
const peerBatches = batches(texts.slice(0, PEER_KEYS), PEER_BATCH), peerLeast = [[], []];
function peer() {
  const f = BloomFilter.create(1e6, 0.01);
  time(peerLeast[0], peerBatches, (batch) => batch.forEach((key) => f.add(key)));
  time(peerLeast[1], peerBatches, (batch) => batch.map((key) => f.has(key)));
}

let c = [];
for (let i = 0; i < rounds; i++) {
  filters.forEach(ours);
  c = await theirs(); // of all rounds so far
  peer();
}
program.stdin.end();

const each = (least, keys) => least.reduce((sum, ns) => sum + ns, 0) / keys;
const cell = (text, width = 9) => String(text).padStart(width);
console.log(`${'wasm ns, C ns, ratio'.padEnd(32)}${COLUMNS.map((name) => cell(name, 24)).join('')}`);
let worst = 0;
SPECS.forEach((spec, i) => {
  const cells = COLUMNS.map((_, j) => {
    const wasm = each(filters[i].least[j], KEYS), native = c[i][j];
    worst = Math.max(worst, wasm / native);
    return `${cell(wasm.toFixed(1))}${cell(native.toFixed(1), 8)}${cell((wasm / native).toFixed(2), 7)}`;
  });
  console.log(`${spec.padEnd(32)}${cells.join('')}`);
});
console.log(`the largest ratio is ${worst.toFixed(2)} (goal: at most ${AT_MOST})`);
peerLeast.forEach((least, j) => {
  const ns = each(least, PEER_KEYS);
  console.log(`bloom-filters 3.0.4, ${COLUMNS[j]}: ${ns.toFixed(0)} ns, ${(ns / each(filters[0].least[j], KEYS)).toFixed(0)} times ours (goal: at least ${AT_LEAST})`);
});
