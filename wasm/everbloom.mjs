// everbloom.mjs - small summaries of endless streams, in JavaScript: the C library itself, as WebAssembly.
//
//     import everbloom from 'everbloom';
//     const { Filter } = await everbloom();
//     const seen = new Filter('lru:memory=1M');
//     lines.filter((line) => !seen.add(line));
//
// Batches are the fast way: add(['a', 'b', 'c']) returns a Uint8Array.  Snapshots are byte for byte those of the C library.

const TEXT = 1, BYTES = 2, I64 = 3, HASHES = 0;
const ORDERS = { unknown: 0, shuffled: 1, recent: 2, passes: 3 };
const PREFERENCES = { smallest: 1, 'fewest-misses': 2, 'fewest-false': 3 };
const CAPS = ['count', 'remove', 'merge', 'scale', 'no-false-negatives', 'idempotent', 'time', 'value', 'forgets', 'numbers',
  'keeps-keys', 'grows', 'order-free'];
const STATS = ['adds', 'newKeys', 'bytes', 'clock', 'capacity', 'parts', 'cells', 'cellsUsed', 'saturated', 'fill', 'fpr', 'window'];
const PREDICTION = ['items', 'fpr', 'fnr', 'fill', 'settlesAfter', 'meanFpr', 'meanFnr', 'accuracy', 'fprLow', 'fprHigh', 'fnrLow',
  'fnrHigh', 'wrong', 'error', 'errorBound', 'mostFpr'];
const OFFER = ['bytes', 'meanFpr', 'meanFnr', 'mostFpr', 'mostFnr', 'regret', 'lines', 'error'];
const STREAM = ['items', 'distinct', 'zipf', 'gap', 'rate', 'value', 'order'];
const GOAL = ['maxBytes', 'maxFpr', 'maxFnr', 'window', 'caps', 'prefer', 'allKinds'];
const SPEC_MAX = 448, LONGEST_STRING = 2 ** 28;

/** What the library refuses: `status` is its code, `at` the index of the key or the byte that was refused, or -1. */
export class EverbloomError extends Error {
  constructor(message, status, at) {
    super(message);
    this.name = 'EverbloomError';
    this.status = status;
    this.at = at;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function names(caps) {
  return CAPS.filter((_, bit) => caps & (1 << bit));
}

function mask(words = []) {
  let caps = 0;
  for (const word of words) {
    const bit = CAPS.indexOf(word);
    if (bit < 0) throw new TypeError(`there is no capability "${word}": they are ${CAPS.join(', ')}`);
    caps |= 1 << bit;
  }
  return caps;
}

function choice(table, word, what) {
  const number = table[word];
  if (number === undefined) throw new TypeError(`${what} must be ${Object.keys(table).join(', ')}, not "${word}"`);
  return number;
}

/** The module's memory, and one region of it that every call uses again. */
class Memory {
  constructor(lib) {
    this.lib = lib;
    this.at = 0;
    this.size = 0;
    this.used = 0;
    this.offsets = new Int32Array(0);
  }

  /** Room for where n keys begin, and where the last one ends. */
  offsetsOf(n) {
    if (this.offsets.length < n + 1) this.offsets = new Int32Array(2 * n + 1);
    return this.offsets.subarray(0, n + 1);
  }

  /** A fresh region of so many bytes, which take() cuts up. */
  open(bytes) {
    if (bytes > this.size) {
      this.lib.release(this.at);
      this.at = this.lib.allocate(bytes) >>> 0;
      this.size = this.at ? bytes : 0;
      if (!this.at) throw new EverbloomError(`no memory for ${bytes} bytes of keys and answers`, 'EB_ENOMEM', -1);
    }
    this.used = 0;
  }

  take(bytes) {
    const at = this.at + this.used;
    this.used += (bytes + 7) & ~7;
    return at;
  }

  bytes(at, n) {
    return new Uint8Array(this.lib.memory.buffer, at, n);
  }

  doubles(at, n) {
    return new Float64Array(this.lib.memory.buffer, at, n);
  }

  string(at) {
    const all = new Uint8Array(this.lib.memory.buffer);
    return decoder.decode(all.subarray(at, all.indexOf(0, at)));
  }

  /** A text with its final 0; the region was opened with room for it. */
  text(s) {
    const at = this.take(3 * s.length + 1);
    const { written } = encoder.encodeInto(s, this.bytes(at, 3 * s.length));
    this.bytes(at, written + 1)[written] = 0;
    return at;
  }
}

function tooLarge(n) {
  return new EverbloomError(`a batch of ${n} keys is too large: give fewer keys at a time`, 'EB_ENOMEM', -1);
}

/** All texts as one, and where each begins in it. */
function join(texts, offsets) {
  let at = 0, all = '';
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i];
    if (typeof text !== 'string') throw new TypeError(`key ${i} is no string: the keys of a batch must be all strings, or all bytes`);
    offsets[i] = at;
    if ((at += text.length) > LONGEST_STRING) throw tooLarge(texts.length);
    all += text;
  }
  offsets[texts.length] = at;
  return all;
}

/** Room for the bytes of n keys, behind their offsets. */
function room(m, n, bytes, extra) {
  if (bytes + extra + 4 * n > 0x70000000) throw tooLarge(n);
  m.open(4 * (n + 1) + bytes + extra + 64);
  return [m.take(4 * (n + 1)), m.take(bytes)];
}

function putTexts(m, texts, extra) {
  const n = texts.length, offsets = m.offsetsOf(n);
  const all = join(texts, offsets);
  let [where, at] = room(m, n, all.length, extra);
  if (encoder.encodeInto(all, m.bytes(at, all.length)).read < all.length) { // not all of ASCII, whose bytes are as many as its characters
    [where, at] = room(m, n, 3 * all.length, extra);
    const bytes = m.bytes(at, 3 * all.length);
    texts.forEach((text, i) => {
      offsets[i + 1] = offsets[i] + encoder.encodeInto(text, bytes.subarray(offsets[i])).written;
    });
  }
  new Int32Array(m.lib.memory.buffer, where, n + 1).set(offsets);
  return [TEXT, at, offsets[n], where, n];
}

function putBytes(m, keys, extra) {
  const n = keys.length, offsets = m.offsetsOf(n);
  let used = 0;
  keys.forEach((key, i) => {
    if (!(key instanceof Uint8Array)) throw new TypeError(`key ${i} is no Uint8Array: the keys of a batch must be all strings, or all bytes`);
    offsets[i] = used;
    used += key.length;
  });
  offsets[n] = used;
  const [where, at] = room(m, n, used, extra);
  const bytes = m.bytes(at, used);
  keys.forEach((key, i) => bytes.set(key, offsets[i]));
  new Int32Array(m.lib.memory.buffer, where, n + 1).set(offsets);
  return [BYTES, at, used, where, n];
}

/** Puts keys into memory: what the C side calls type, data, bytes, offsets, n. */
function put(m, keys, extra) {
  if (!(keys instanceof BigUint64Array || keys instanceof BigInt64Array)) return (keys[0] instanceof Uint8Array ? putBytes : putTexts)(m, keys, extra);
  m.open(8 * keys.length + extra + 64);
  const at = m.take(8 * keys.length);
  m.bytes(at, 8 * keys.length).set(new Uint8Array(keys.buffer, keys.byteOffset, 8 * keys.length));
  return [keys instanceof BigInt64Array ? I64 : HASHES, at, 0, 0, keys.length];
}

/** One number for all keys, or one for each, as 64 bits; 0: none. */
function putNumbers(m, numbers, n, what) {
  if (numbers === undefined) return 0;
  const at = m.take(8 * n);
  const out = new BigUint64Array(m.lib.memory.buffer, at, n);
  if (typeof numbers === 'number' || typeof numbers === 'bigint') {
    out.fill(BigInt(numbers));
  } else {
    if (numbers.length !== n) throw new TypeError(`there are ${n} keys, but ${numbers.length} ${what}`);
    for (let i = 0; i < n; i++) out[i] = BigInt(numbers[i]);
  }
  return at;
}

function bind(lib) {
  const m = new Memory(lib);

  function fail(status) {
    throw new EverbloomError(m.string(lib.error()), m.string(lib.status_name(status)), lib.error_at());
  }

  function must(status) {
    if (status < 0) fail(status);
    return status;
  }

  function handle(f) {
    if (!f) throw new EverbloomError(m.string(lib.error()), 'EB_ESPEC', lib.error_at());
    return f;
  }

  const forgotten = new FinalizationRegistry((f) => lib.free(f));

  class Filter {
    #f = 0;

    /** @param {string} spec such as 'lru:memory=64M' or 'bloom:distinct=1e6,fpr=0.001' */
    constructor(spec) {
      if (typeof spec === 'number') {
        this.#f = spec; // from load and clone
      } else {
        m.open(3 * spec.length + 64);
        this.#f = handle(lib.make(m.text(spec), crypto.getRandomValues(new BigUint64Array(1))[0]) >>> 0);
      }
      forgotten.register(this, this.#f, this);
    }

    static load(snapshot) {
      const at = lib.allocate(snapshot.length) >>> 0;
      if (!at) throw new EverbloomError(`no memory for a snapshot of ${snapshot.length} bytes`, 'EB_ENOMEM', -1);
      m.bytes(at, snapshot.length).set(snapshot);
      const f = lib.load(at, snapshot.length) >>> 0;
      lib.release(at);
      return new Filter(handle(f));
    }

    get #handle() {
      if (!this.#f) throw new TypeError('this filter was freed');
      return this.#f;
    }

    clone() {
      return new Filter(handle(lib.clone(this.#handle) >>> 0));
    }

    /** Gives its memory back at once; without it, the garbage collector will. */
    free() {
      forgotten.unregister(this);
      lib.free(this.#f);
      this.#f = 0;
    }

    get spec() {
      return m.string(lib.spec(this.#handle));
    }

    get caps() {
      return names(lib.caps(this.#handle));
    }

    #call(which, keys, { values, times } = {}, wantsSeen, wantsCount) {
      const f = this.#handle;
      const n = keys.length;
      const input = put(m, keys, 33 * n + 64);
      const value = putNumbers(m, values, n, 'values');
      const time = putNumbers(m, times, n, 'times');
      const seen = wantsSeen ? m.take(n) : 0;
      const count = wantsCount ? m.take(8 * n) : 0;
      must(which(f, ...input, value, time, seen, count));
      if (wantsCount) return m.doubles(count, n).slice();
      return wantsSeen ? m.bytes(seen, n).slice() : undefined;
    }

    /** Adds keys; says which were (probably) there before.  One key gives one boolean. */
    add(keys, options) {
      if (typeof keys === 'string' || keys instanceof Uint8Array) return this.#call(lib.add, [keys], options, true)[0] === 1;
      return this.#call(lib.add, keys, options, true);
    }

    /** Adds the lines of a text in bytes.  What follows the last newline is a line only if `last` is true: else give it
     * again with the bytes that come after it (`used` says where it begins).  `fresh` has the new lines. */
    lines(bytes, { last = false } = {}) {
      m.open(2 * bytes.length + 128);
      const text = m.take(bytes.length), fresh = m.take(bytes.length + 1), out = m.take(32);
      m.bytes(text, bytes.length).set(bytes);
      must(lib.lines(this.#handle, text, bytes.length, last ? 1 : 0, fresh, out));
      const [used, written, lines, newLines] = m.doubles(out, 4);
      return { used, fresh: m.bytes(fresh, written).slice(), lines, newLines };
    }

    has(keys, options) {
      if (typeof keys === 'string' || keys instanceof Uint8Array) return this.#call(lib.ask, [keys], options, true)[0] === 1;
      return this.#call(lib.ask, keys, options, true);
    }

    count(keys, options) {
      if (typeof keys === 'string' || keys instanceof Uint8Array) return this.#call(lib.ask, [keys], options, false, true)[0];
      return this.#call(lib.ask, keys, options, false, true);
    }

    remove(keys, options) {
      this.#call(lib.remove, typeof keys === 'string' || keys instanceof Uint8Array ? [keys] : keys, options, false, false);
    }

    hash(keys) {
      const n = keys.length;
      const input = put(m, keys, 8 * n + 64);
      const out = m.take(8 * n);
      must(lib.hash(this.#handle, ...input, out));
      return new BigUint64Array(m.bytes(out, 8 * n).slice().buffer);
    }

    /** Adds the keys of another filter with the same spec, `weight` times; -1 subtracts. */
    merge(other, weight = 1) {
      must(lib.merge(this.#handle, other.#handle, weight));
    }

    clear() {
      must(lib.clear(this.#handle));
    }

    advance(time) {
      must(lib.advance(this.#handle, BigInt(time)));
    }

    save() {
      const n = lib.save_size(this.#handle) >>> 0;
      const at = lib.allocate(n) >>> 0;
      if (!at) throw new EverbloomError(`no memory for a snapshot of ${n} bytes`, 'EB_ENOMEM', -1);
      const status = lib.save(this.#f, at, n);
      const bytes = m.bytes(at, n).slice();
      lib.release(at);
      must(status);
      return bytes;
    }

    stats() {
      m.open(8 * STATS.length + 64);
      const at = m.take(8 * STATS.length);
      must(lib.stats(this.#handle, at));
      const numbers = m.doubles(at, STATS.length);
      return Object.fromEntries(STATS.map((name, i) => [name, numbers[i]]));
    }

    /** The keys that occur most often, of a filter of kind top. */
    top({ limit = 100, atLeast = 0 } = {}) {
      m.open(8 + 32 * limit + 64);
      const at = m.take(8 + 32 * limit);
      const n = must(lib.top(this.#handle, atLeast, limit, at));
      const rows = m.doubles(at, 1 + 4 * n).slice();
      const keys = [];
      for (let i = 0; i < n; i++) {
        const [p, length, count, lower] = rows.subarray(1 + 4 * i, 5 + 4 * i);
        keys.push({ key: decoder.decode(m.bytes(p, length)), count, lower });
      }
      return { keys, watermark: rows[0] };
    }

    /** How many keys lie in from..to, of a filter of kind dyadic: certain bounds. */
    range(from, to) {
      m.open(64);
      const at = m.take(16);
      must(lib.range(this.#handle, BigInt.asUintN(64, BigInt(from)), BigInt.asUintN(64, BigInt(to)), at));
      const [lower, upper] = m.doubles(at, 2);
      return { lower, upper };
    }

    quantile(q) {
      m.open(64);
      const at = m.take(24);
      must(lib.quantile(this.#handle, q, at));
      const signed = this.spec.includes('keys=i64');
      const [value, lower, upper] = Array.from(new BigUint64Array(lib.memory.buffer, at, 3), (x) => (signed ? BigInt.asIntN(64, x) : x));
      return { value, lower, upper };
    }
  }
  if (typeof Symbol.dispose === 'symbol') Filter.prototype[Symbol.dispose] = Filter.prototype.free;

  function putDoubles(fields, from, at) {
    const out = m.doubles(at, fields.length);
    fields.forEach((name, i) => {
      out[i] = Number(from[name] ?? 0);
    });
  }

  function stream(load = {}) {
    const unknown = Object.keys(load).filter((key) => !STREAM.includes(key));
    if (unknown.length > 0) throw new TypeError(`a stream has no "${unknown[0]}": it has ${STREAM.join(', ')}`);
    return { ...load, order: choice(ORDERS, load.order ?? 'unknown', 'order') };
  }

  /** Predictions of a spec for a stream: one, or one for each place in `points`. */
  function predict(spec, load, points) {
    const n = points ? points.length : 1;
    m.open(3 * spec.length + 8 * (STREAM.length + n + PREDICTION.length * n) + 128);
    const text = m.text(spec);
    const given = m.take(8 * STREAM.length);
    putDoubles(STREAM, stream(load), given);
    const items = points ? m.take(8 * n) : 0;
    if (points) m.doubles(items, n).set(points);
    const out = m.take(8 * PREDICTION.length * n);
    must(lib.predict(text, given, items, n, out));
    const rows = m.doubles(out, PREDICTION.length * n).slice();
    const all = Array.from({ length: n }, (_, i) =>
      Object.fromEntries(PREDICTION.map((name, j) => [name, rows[PREDICTION.length * i + j]])));
    return points ? all : all[0];
  }

  /** The best filter of each kind for a goal, best first. */
  function plan(goal) {
    const { load, options, caps, prefer = 'smallest', ...bounds } = goal;
    const unknown = Object.keys(bounds).filter((key) => !GOAL.includes(key));
    if (unknown.length > 0) throw new TypeError(`a goal has no "${unknown[0]}": it has load, options, ${GOAL.join(', ')}`);
    const size = 8 * (STREAM.length + GOAL.length);
    m.open(size + 3 * (options ?? '').length + 128);
    const at = m.take(size);
    putDoubles(STREAM, stream(load), at);
    putDoubles(GOAL, { ...bounds, caps: mask(caps), prefer: choice(PREFERENCES, prefer, 'prefer') }, at + 8 * STREAM.length);
    const n = must(lib.plan(at, options ? m.text(options) : 0));
    m.open(8 * OFFER.length + 64);
    const out = m.take(8 * OFFER.length);
    return Array.from({ length: n }, (_, i) => {
      const kind = m.string(lib.offer(i, out));
      const numbers = m.doubles(out, OFFER.length).slice();
      return { kind, spec: m.string(lib.offer_spec(i)), ...Object.fromEntries(OFFER.map((name, j) => [name, numbers[j]])) };
    });
  }

  /** What a spec costs and can do, without making the filter. */
  function describe(spec) {
    m.open(3 * spec.length + SPEC_MAX + 128);
    const text = m.text(spec);
    const out = m.take(24);
    const canonical = m.take(SPEC_MAX);
    must(lib.describe(text, out, canonical));
    const [bytes, snapshotBytes, caps] = m.doubles(out, 3);
    return { bytes, snapshotBytes, caps: names(caps), canonical: m.string(canonical) };
  }

  function options(kind) {
    const all = [];
    const text = (i, which) => {
      const at = lib.option_text(kind, i, which);
      return at ? m.string(at) : undefined;
    };
    for (let i = 0; text(i, 0) !== undefined; i++)
      all.push({ key: text(i, 0), type: text(i, 1), default: text(i, 2), min: text(i, 3), max: text(i, 4), help: text(i, 5) });
    return all;
  }

  /** Every kind of filter, with its options; those that are recommended have a question. */
  function kinds() {
    return Array.from({ length: lib.kinds() }, (_, i) => {
      const [name, summary, paper, question] = [0, 1, 2, 3].map((which) => {
        const at = lib.kind_text(i, which);
        return at ? m.string(at) : undefined;
      });
      return { name, summary, paper, question, caps: names(lib.kind_caps(i)), options: options(i) };
    });
  }

  return { Filter, plan, predict, describe, kinds, version: m.string(lib.version()), exports: lib };
}

/** The library never reads files or clocks; what its C library might ask for is refused. */
const system = new Proxy({}, {
  get: (_, name) => (name === 'proc_exit' ? (code) => { throw new Error(`everbloom ended with ${code}`); } : () => 52),
});

async function bytesOf(url) {
  if (url.protocol !== 'file:') return fetch(url);
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

/** Loads the WebAssembly module: from beside this file, or from what is given (bytes, a Response or a module). */
export async function everbloom(source = bytesOf(new URL('./everbloom.wasm', import.meta.url))) {
  const given = await source;
  const imports = { wasi_snapshot_preview1: system };
  if (given instanceof WebAssembly.Module) return bind(start(await WebAssembly.instantiate(given, imports)));
  const bytes = typeof Response === 'function' && given instanceof Response ? await given.arrayBuffer() : given;
  return bind(start((await WebAssembly.instantiate(bytes, imports)).instance));
}

function start(instance) {
  instance.exports._initialize?.();
  return instance.exports;
}

export default everbloom;
