// worker.mjs - the library at work, off the page's thread: answers and curves in one worker, files in another.
import { everbloom } from './everbloom.mjs';
import { toNumbers } from './question.mjs';

const QUESTION = 15, LOAD = ['items', 'distinct', 'zipf', 'gap', 'rate', 'value', 'order'];
const PIECE = 4 << 20;
let library, scratch, ready;

function doubles(n) {
  return new Float64Array(library.exports.memory.buffer, scratch, n);
}

function string(at) {
  const all = new Uint8Array(library.exports.memory.buffer);
  return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)));
}

function ask(question) {
  doubles(QUESTION).set(toNumbers(question));
  const answer = JSON.parse(string(library.exports.page_ask(scratch)));
  if (answer.error) return answer;
  library.exports.page_load(scratch);
  answer.load = Object.fromEntries(LOAD.map((name, i) => [name, doubles(7)[i]]));
  answer.load.order = ['unknown', 'shuffled', 'recent', 'passes'][answer.load.order];
  return answer;
}

function between(from, to, n) {
  return Array.from({ length: n }, (_, i) => Math.min(to, from * (to / from) ** (i / (n - 1))));
}

function overStream({ load, offer }) {
  const end = load.items > 0 ? load.items : 64 * offer.bytes;
  const x = between(Math.max(1, end / 1e4), end, 61);
  const curve = library.predict(offer.filter, load, x);
  const first = (a, b) => (Number.isNaN(a) ? b : a);
  return { x, fpr: curve.map((p) => first(p.fpr, p.meanFpr)), fnr: curve.map((p) => first(p.fnr, p.meanFnr)) };
}

function overMemory({ offer }) {
  const x = between(Math.max(1024, offer.bytes / 32), Math.min(2 ** 40, offer.bytes * 32), 31);
  const name = new TextEncoder().encode(`${offer.kind}\0`);
  new Uint8Array(library.exports.memory.buffer).set(name, scratch + 64);
  const fpr = [], fnr = [];
  for (const bytes of x) {
    library.exports.page_at_memory(scratch + 64, bytes, scratch);
    fpr.push(doubles(2)[0]);
    fnr.push(doubles(2)[1]);
  }
  return { x, fpr, fnr };
}

/** Calls `each` with pieces of the file that begin where the last one's whole lines ended. */
async function inPieces(file, each, progress) {
  let rest = new Uint8Array(0);
  for (let at = 0; at < file.size || at === 0; at += PIECE) {
    const piece = new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer());
    const bytes = new Uint8Array(rest.length + piece.length);
    bytes.set(rest);
    bytes.set(piece, rest.length);
    rest = bytes.slice(each(bytes, at + PIECE >= file.size));
    progress(Math.min(1, (at + PIECE) / Math.max(1, file.size)));
  }
}

async function readFile({ file, mode, filter }, progress) {
  const f = new library.Filter(filter);
  const start = performance.now();
  const parts = [];
  let lines = 0, fresh = 0;
  await inPieces(file, (bytes, last) => {
    const got = f.lines(bytes, { last });
    lines += got.lines;
    fresh += got.newLines;
    if (mode === 'dedup') parts.push(new Blob([got.fresh]));
    return got.used;
  }, progress);
  const answer = { lines, fresh, seconds: (performance.now() - start) / 1000 };
  if (mode === 'dedup') answer.result = new Blob(parts, { type: 'text/plain' });
  else answer.top = f.top({ limit: 1000 });
  f.free();
  return answer;
}

const tasks = { ask, overStream, overMemory, readFile };

/** Unpacks the library, which is compressed and in base64, and compiles what has been unpacked meanwhile. */
async function open(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  library = await everbloom(await WebAssembly.compileStreaming(new Response(stream, { headers: { 'content-type': 'application/wasm' } })));
  scratch = library.exports.allocate(256);
}

self.onmessage = async ({ data: { id, task, given, packed } }) => {
  if (packed) {
    ready = open(packed);
    return;
  }
  try {
    await ready;
    self.postMessage({ id, answer: await tasks[task](given, (progress) => self.postMessage({ id, progress })) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
