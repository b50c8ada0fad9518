// wasm.mjs - batches in WebAssembly beside the same batches in C and npm's bloom-filters, in one run:
//
//     make wasm && make build/release/everbloom-batches
//     npm install --prefix build/peers bloom-filters@3.0.4
//     node bench/wasm.mjs [ROUNDS]
//
// Nanoseconds a key in batches of 4096 keys, medians of rounds in which all take turns.  JavaScript's texts are strings, which
// must be written as bytes first; that counts.  Hashes are 64-bit numbers, as hash() gives them.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import everbloom from '../build/npm/everbloom.mjs';

const KEYS = 200000, BATCH = 4096, PEER_KEYS = 20000, AT_MOST = 4, AT_LEAST = 20;
const SPECS = ['bloom:distinct=1e6,fpr=0.01', 'lru:memory=1M', 'window:memory=1M,window=100000', 'choosy:memory=1M', 'spectral:memory=1M',
  'spectral_rm:memory=1M', 'decay:memory=1M', 'aging:memory=1M', 'stable:memory=1M', 'rlbsbf:memory=1M'];
const COLUMNS = ['add texts', 'ask texts', 'add hashes', 'ask hashes'];
const rounds = Number(process.argv[2] ?? 9);
const { Filter } = await everbloom();
const texts = Array.from({ length: KEYS }, (_, i) => `user-${(i * 7919) % 10000019}@example.org`);

function batches(keys) {
  return Array.from({ length: Math.ceil(keys.length / BATCH) }, (_, i) => keys.slice(i * BATCH, (i + 1) * BATCH));
}
const textBatches = batches(texts);

function time(all, keys, work) {
  const start = process.hrtime.bigint();
  for (const batch of all) work(batch);
  return Number(process.hrtime.bigint() - start) / keys;
}

const filters = SPECS.map((spec) => {
  const f = new Filter(spec);
  return { f, hashBatches: batches(f.hash(texts)) };
});
function ours({ f, hashBatches }) {
  return [textBatches, hashBatches].flatMap((all) => {
    f.clear();
    return [time(all, KEYS, (batch) => f.add(batch)), time(all, KEYS, (batch) => f.has(batch))];
  });
}

const native = spawn('build/release/everbloom-batches', [KEYS, ...SPECS], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: native.stdout })[Symbol.asyncIterator]();
async function theirs() {
  native.stdin.write('round\n');
  const all = (await answers.next()).value.trim().split(' ').map(Number);
  return SPECS.map((_, i) => all.slice(4 * i, 4 * i + 4));
}

/** bloom-filters has no batches; a filter of as many keys and the same rate. */
const { BloomFilter } = createRequire(resolve('build/peers/package.json'))('bloom-filters');
const peerBatches = batches(texts.slice(0, PEER_KEYS));
function peer() {
  const f = BloomFilter.create(1e6, 0.01);
  return [time(peerBatches, PEER_KEYS, (batch) => batch.forEach((key) => f.add(key))),
    time(peerBatches, PEER_KEYS, (batch) => batch.map((key) => f.has(key)))];
}

const results = [];
for (let i = 0; i < rounds + 1; i++) {
  const wasm = filters.map(ours), c = await theirs(), npm = peer();
  if (i > 0) results.push({ wasm, c, npm }); // the first round compiles
}
native.stdin.end();

const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
const cell = (text, width = 9) => String(text).padStart(width);
console.log(`${'wasm ns, C ns, ratio'.padEnd(32)}${COLUMNS.map((name) => cell(name, 24)).join('')}`);
let worst = 0;
SPECS.forEach((spec, i) => {
  const cells = COLUMNS.map((_, j) => {
    const a = median(results.map((r) => r.wasm[i][j])), b = median(results.map((r) => r.c[i][j])), ratio = median(results.map((r) => r.wasm[i][j] / r.c[i][j]));
    worst = Math.max(worst, ratio);
    return `${cell(a.toFixed(1))}${cell(b.toFixed(1), 8)}${cell(ratio.toFixed(2), 7)}`;
  });
  console.log(`${spec.padEnd(32)}${cells.join('')}`);
});
console.log(`the largest ratio is ${worst.toFixed(2)} (goal: at most ${AT_MOST})`);
[0, 1].forEach((j) => {
  const times = median(results.map((r) => r.npm[j])), ratio = median(results.map((r) => r.npm[j] / r.wasm[0][j]));
  console.log(`bloom-filters 3.0.4, ${COLUMNS[j]}: ${times.toFixed(0)} ns, ${ratio.toFixed(0)} times ours (goal: at least ${AT_LEAST})`);
});
