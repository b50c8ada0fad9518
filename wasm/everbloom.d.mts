/** Names of what filters can do. */
export type Capability =
  | 'count' | 'remove' | 'merge' | 'scale' | 'no-false-negatives' | 'idempotent' | 'time' | 'value' | 'forgets' | 'numbers'
  | 'keeps-keys' | 'grows' | 'order-free';

/** Strings, or bytes (for specs with keys=bytes), or integers, or 64-bit hashes that are uniformly distributed. */
export type Keys = readonly string[] | readonly Uint8Array[] | BigInt64Array | BigUint64Array;
export type Numbers = number | bigint | ArrayLike<number> | ArrayLike<bigint>;

export interface BatchOptions {
  /** multiplicity, importance or class */
  values?: Numbers;
  /** never decreasing in adds; the moment asked about in questions */
  times?: Numbers;
}

export interface Stats {
  adds: number; newKeys: number; bytes: number; clock: number; capacity: number; parts: number; cells: number;
  cellsUsed: number; saturated: number; fill: number; fpr: number; window: number;
}

export interface TopKey { key: string; count: number; lower: number }

export interface Stream {
  items?: number; distinct?: number; zipf?: number; gap?: number; rate?: number; value?: number;
  order?: 'unknown' | 'shuffled' | 'recent' | 'passes';
}

export interface Prediction {
  items: number; fpr: number; fnr: number; fill: number; settlesAfter: number; meanFpr: number; meanFnr: number;
  accuracy: number; fprLow: number; fprHigh: number; fnrLow: number; fnrHigh: number; wrong: number; error: number;
  errorBound: number; mostFpr: number;
}

export interface Goal {
  load: Stream;
  options?: string;
  maxBytes?: number; maxFpr?: number; maxFnr?: number; window?: number;
  caps?: readonly Capability[];
  prefer?: 'smallest' | 'fewest-misses' | 'fewest-false';
  allKinds?: boolean;
}

export interface Offer {
  kind: string; spec: string; bytes: number; meanFpr: number; meanFnr: number; mostFpr: number; mostFnr: number;
  regret: number; lines: number; error: number;
}

export interface Option { key: string; type: string; default?: string; min?: string; max?: string; help: string }
export interface Kind { name: string; summary: string; paper: string; question?: string; caps: Capability[]; options: Option[] }

export declare class EverbloomError extends Error {
  readonly status: string;
  /** the index of the key, or the byte, that was refused; -1: none */
  readonly at: number;
}

export interface Filter {
  readonly spec: string;
  readonly caps: Capability[];
  /** Was it (probably) there before? */
  add(key: string | Uint8Array, options?: BatchOptions): boolean;
  add(keys: Keys, options?: BatchOptions): Uint8Array;
  /** Adds the lines of a text; the bytes after `used` are no whole line: give them again with what follows, or say `last`. */
  lines(bytes: Uint8Array, options?: { last?: boolean }): { used: number; fresh: Uint8Array; lines: number; newLines: number };
  has(key: string | Uint8Array, options?: BatchOptions): boolean;
  has(keys: Keys, options?: BatchOptions): Uint8Array;
  count(key: string | Uint8Array, options?: BatchOptions): number;
  count(keys: Keys, options?: BatchOptions): Float64Array;
  remove(keys: string | Uint8Array | Keys, options?: BatchOptions): void;
  hash(keys: readonly string[] | readonly Uint8Array[] | BigInt64Array): BigUint64Array;
  merge(other: Filter, weight?: number): void;
  clear(): void;
  advance(time: number | bigint): void;
  clone(): Filter;
  save(): Uint8Array;
  stats(): Stats;
  top(options?: { limit?: number; atLeast?: number }): { keys: TopKey[]; watermark: number };
  range(from: number | bigint, to: number | bigint): { lower: number; upper: number };
  quantile(q: number): { value: bigint; lower: bigint; upper: bigint };
  free(): void;
}

export interface Everbloom {
  Filter: { new (spec: string): Filter; load(snapshot: Uint8Array): Filter };
  plan(goal: Goal): Offer[];
  predict(spec: string, load: Stream): Prediction;
  predict(spec: string, load: Stream, points: ArrayLike<number>): Prediction[];
  describe(spec: string): { bytes: number; snapshotBytes: number; caps: Capability[]; canonical: string };
  kinds(): Kind[];
  version: string;
  /** what the module exports, for programs that link more into it */
  exports: WebAssembly.Exports;
}

/** Loads the module: from beside this file, or from what is given. */
export declare function everbloom(source?: BufferSource | WebAssembly.Module | Response | Promise<BufferSource | Response>): Promise<Everbloom>;
export default everbloom;
