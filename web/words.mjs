// words.mjs - quantities as people write them, as the command reads them: 64M, 1e9, 0.1%, 10m.

const NUMBER = /^\+?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i;

/** A number and the unit behind it, or nothing.  Spaces and underscores between digits are nothing. */
function split(text) {
  const plain = text.replace(/[\s_\u00a0\u2009\u202f]/g, '');
  const found = NUMBER.exec(plain);
  return found ? { value: Number(found[0]), unit: plain.slice(found[0].length) } : undefined;
}

function scaled(text, units) {
  const found = split(text);
  const factor = found && Object.hasOwn(units, found.unit) ? units[found.unit] : undefined;
  return factor === undefined ? NaN : found.value * factor;
}

const COUNTS = { '': 1, K: 1e3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const TIMES = { ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400 };
const SIZES = { '': 1, bytes: 1, B: 1 };
for (const [i, letter] of ['K', 'M', 'G', 'T'].entries()) {
  for (const name of [letter, letter.toLowerCase(), `${letter}iB`]) SIZES[name] = 1024 ** (i + 1);
  SIZES[`${letter}B`] = 1000 ** (i + 1);
}

function within(value, low, high) {
  return value >= low && value <= high ? value : NaN;
}

/** How each type is read (NaN: it cannot be) and written, and what would be right. */
export const types = {
  size: {
    read: (text) => within(scaled(text, SIZES), 1024, 64 * 2 ** 40),
    write: writeSize,
    right: 'a size from 1K to 64T, such as 500K, 64M or 2GiB',
  },
  count: {
    read: (text) => within(scaled(text, COUNTS), 1, 1e18),
    write: short,
    right: 'a number from 1 to 1e18, such as 1e9 or 10M',
  },
  share: {
    read: (text) => within(scaled(text, { '': 1, '%': 0.01 }), 1e-9, 0.5),
    write: writeShare,
    right: 'a share from 1e-9 to 0.5, such as 1e-6 or 0.1%',
  },
  real: {
    read: (text) => within(scaled(text, { '': 1 }), 0, 10),
    write: (x) => String(Number(x.toPrecision(3))),
    right: 'a number from 0 to 10, such as 1.1',
  },
  /** Lines, or a time: then `seconds` is true of it. */
  length: {
    read: (text) => (isTime(text) ? within(scaled(text, TIMES), 0.001, 366 * 86400) : within(Math.floor(scaled(text, COUNTS)), 1, 1e18)),
    write: short,
    right: 'a number of lines such as 1e6, or a time such as 30s, 10m or 24h',
  },
};

export function isTime(text) {
  return Object.hasOwn(TIMES, split(text)?.unit ?? '');
}

/** Three digits, as the command writes them: 1.5e6. */
export function short(x) {
  if (!Number.isFinite(x)) return '';
  if (x >= 100 && x < 1e5) return x.toFixed(0);
  if (x !== 0 && (x < 1e-4 || x >= 1000)) return x.toExponential(2).replace(/\.?0*e/, 'e').replace('e+', 'e');
  return String(Number(x.toPrecision(3)));
}

export function writeSize(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
  return `${Number(bytes.toPrecision(3))}${['', 'K', 'M', 'G', 'T'][unit]}`;
}

export function writeShare(x) {
  return x >= 1e-4 ? `${Number((100 * x).toPrecision(3))}%` : short(x);
}

/** Rates for people: 0.0977 %, or 1 in 2.5 million. */
export function rate(x) {
  if (!Number.isFinite(x)) return 'not known';
  if (x === 0) return 'none';
  return x >= 1e-5 ? `${short(100 * x)} %` : `${short(1e6 * x)} in a million`;
}

export function bytes(x) {
  let unit = 0;
  for (; x >= 1024 && unit < 5; unit++) x /= 1024;
  return `${unit === 0 ? x : x.toFixed(1)} ${['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit]}`;
}

/** 12 500 000, with narrow spaces that do not break. */
export function whole(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** 977 000, 1.2 million, 1 billion. */
export function inLines(x) {
  const [size, name] = [[1e12, 'trillion'], [1e9, 'billion'], [1e6, 'million']].find(([least]) => x >= 0.9995 * least) ?? [1, ''];
  return size === 1 ? whole(x) : `${Number((x / size).toPrecision(3))}\u00a0${name}`;
}
