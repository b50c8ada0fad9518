// package.test.mjs - the npm package beside the command and the golden files: run by node --test.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import everbloom, { EverbloomError } from '../../build/npm/everbloom.mjs';

const { Filter, plan, predict, describe, kinds, version } = await everbloom();
const command = 'build/release/everbloom';
const folder = mkdtempSync(join(tmpdir(), 'everbloom-'));
process.on('exit', () => rmSync(folder, { recursive: true }));

function run(args, input) {
  return execFileSync(command, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
}

function words(n, first = 0) {
  return Array.from({ length: n }, (_, i) => `key ${first + i}`);
}

test('every golden snapshot loads, and is saved as the same bytes', () => {
  const files = readdirSync('tests/golden').filter((name) => name.endsWith('.evb'));
  assert.ok(files.length > 30);
  for (const name of files) {
    const bytes = readFileSync(join('tests/golden', name));
    const f = Filter.load(bytes);
    assert.deepEqual(Buffer.from(f.save()), bytes, name);
    f.free();
  }
});

test('every golden snapshot answers as the command does', () => {
  const keys = Array.from({ length: 3000 }, (_, i) => String(i)); // texts and numbers alike
  let found = 0;
  for (const name of readdirSync('tests/golden').filter((file) => file.endsWith('.evb'))) {
    const f = Filter.load(readFileSync(join('tests/golden', name)));
    if (f.caps.includes('numbers')) {
      if (f.spec.includes('values=real')) continue; // whose ends are bits of doubles here
      const [, lower, upper] = run(['range', '--snapshot', join('tests/golden', name), '--from', '10', '--to', '200']).split('\t');
      assert.deepEqual(f.range(10, 200), { lower: Number(lower), upper: Number(upper) }, name);
      continue;
    }
    const { status, stdout, stderr } = spawnSync(command, ['test', join('tests/golden', name)], { input: `${keys.join('\n')}\n`, encoding: 'utf8' });
    assert.ok(status <= 1, `${name}: ${stderr}`); // 1: none of them
    const theirs = new Set(stdout.split('\n'));
    const asked = f.spec.includes('keys=bytes') ? keys.map((key) => Buffer.from(key)) : keys;
    assert.deepEqual([...f.has(asked)], keys.map((key) => Number(theirs.has(key))), name);
    found += theirs.size - 1;
  }
  assert.ok(found > 1000, `${found} keys found`);
});

test('keys have the hashes that every host computes', () => {
  const filters = new Map();
  let compared = 0;
  for (const line of readFileSync('tests/keys.tsv', 'utf8').split('\n')) {
    const [options, type, value, hash] = line.split('\t');
    if (line === '' || line.startsWith('#') || type !== 'text' || hash === 'refused' || options.includes('bytes')) continue;
    if (!filters.has(options)) filters.set(options, new Filter(`bloom:memory=4K,${options}`));
    assert.equal(filters.get(options).hash([value])[0], BigInt(`0x${hash}`), line);
    compared++;
  }
  assert.ok(compared > 50, `${compared} keys`);
});

test('what the command writes is read here, and the other way round', () => {
  for (const spec of ['bloom:distinct=10000,fpr=0.01', 'lru:memory=64K', 'spectral:memory=64K', 'choosy:memory=32K', 'window:memory=64K']) {
    const theirs = join(folder, 'theirs.eb'), ours = join(folder, 'ours.eb');
    const lines = [...words(8000), ...words(3000, 4000)];
    run(['add', '--filter', `${spec},seed=7`, '-o', theirs], lines.join('\n') + '\n');
    const f = new Filter(`${spec},seed=7`);
    f.add(lines);
    assert.deepEqual(Buffer.from(f.save()), readFileSync(theirs), spec);
    writeFileSync(ours, f.save());
    const asked = words(12000, 2000);
    const seen = f.has(asked);
    const known = run(['test', ours], asked.join('\n') + '\n').trim().split('\n');
    assert.deepEqual(asked.filter((_, i) => seen[i]), known, spec);
  }
});

test('batches, single keys and hashes agree', () => {
  const a = new Filter('lru:memory=16K,seed=3'), b = new Filter('lru:memory=16K,seed=3'), c = new Filter('lru:memory=16K,seed=3');
  const keys = [...words(3000), 'Ünïcödé', '\u{1F33C}', '', ...words(3000)];
  const batch = Array.from(a.add(keys), (x) => x === 1);
  assert.deepEqual(keys.map((key) => b.add(key)), batch);
  assert.deepEqual(Array.from(c.add(c.hash(keys)), (x) => x === 1), batch);
  assert.deepEqual(a.save(), b.save());
  assert.deepEqual(a.save(), c.save());
});

test('texts of all sorts are hashed as one by one, whatever stands beside them', () => {
  const f = new Filter('lru:memory=16K,seed=3');
  const one = (key) => f.hash([key])[0];
  const ascii = words(20).concat(['', 'a', 'x'.repeat(300)]);
  for (const keys of [ascii, ['é', 'a'], ['a', 'é'], ['', 'é', ''], ['\u{1F33C}', ''], ['\ud83c', 'a', '\udf3c'], [...ascii, 'ß'], ['ß', ...ascii], [''], []]) {
    assert.deepEqual([...f.hash(keys)], keys.map(one), JSON.stringify(keys));
  }
  const bytes = [Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(0, 255, 10)];
  const g = new Filter('lru:memory=16K,seed=3,keys=bytes');
  assert.deepEqual([...g.hash(bytes)], bytes.map((key) => g.hash([key])[0]));
  assert.throws(() => f.add(Array(300).fill('x'.repeat(2 ** 20))), /300 keys is too large: give fewer/);
  assert.equal(f.add('after'), false);
});

test('a filter that cannot be merged has a seed that nobody can guess', () => {
  const seed = (spec) => /[,:]seed=(\d+)/.exec(new Filter(spec).spec)[1];
  for (const spec of ['lru:memory=16K', 'window:window=10,unit=time,memory=16K', 'bloom:memory=16K,seed=random']) {
    assert.notEqual(seed(spec), seed(spec));
  }
  assert.equal(seed('bloom:memory=16K'), '0');
  assert.equal(seed('lru:memory=16K,seed=7'), '7');
});

test('counts, removal, merging, times, top lists and ranges', () => {
  const f = new Filter('spectral:memory=64K,update=plain');
  f.add(['a', 'b', 'a']);
  f.add(['a'], { values: 5 });
  assert.deepEqual([...f.count(['a', 'b', 'c'])], [7, 1, 0]);
  f.remove('a', { values: [2] });
  const g = f.clone();
  g.merge(f);
  assert.equal(g.count('a'), 10);
  f.add(['z'], { values: 4294967295 });
  g.merge(f, 1000);
  f.merge(g, 1000);
  assert.equal(f.count('z'), Infinity);

  const w = new Filter('window:window=10,unit=time,memory=16K');
  w.add(['x', 'y'], { times: [1, 5] });
  assert.deepEqual([...w.has(['x', 'y'], { times: 12 })], [0, 1]);

  const t = new Filter('top:memory=16K');
  t.add([...Array(50).fill('often'), ...Array(20).fill('häufig'), ...words(100)]);
  const { keys } = t.top({ limit: 2 });
  assert.deepEqual(keys.map(({ key, count }) => [key, count]), [['often', 50], ['häufig', 20]]);

  const d = new Filter('dyadic:bits=16,memory=64K');
  d.add(BigInt64Array.from({ length: 1000 }, (_, i) => BigInt(i)));
  assert.deepEqual(d.range(100, 199), { lower: 100, upper: 100 });
  assert.ok(Math.abs(Number(d.quantile(0.5).value) - 499) <= 1);
});

test('lines of a text, cut anywhere, are de-duplicated as the command does', () => {
  const all = Array.from({ length: 20000 }, (_, i) => `line ${(i * i) % 7919}${i % 97 === 0 ? '\r' : ''}`);
  const text = Buffer.from(`\n${all.join('\n')}\n\nlast`);
  const path = join(folder, 'lines');
  writeFileSync(path, text);
  const theirs = execFileSync(command, ['dedup', '--filter', 'lru:memory=64K,seed=5', path]);
  for (const piece of [7, 4096, text.length]) {
    const f = new Filter('lru:memory=64K,seed=5');
    const parts = [];
    let rest = Buffer.alloc(0), lines = 0;
    for (let at = 0; at < text.length; at += piece) {
      const bytes = Buffer.concat([rest, text.subarray(at, at + piece)]);
      const got = f.lines(bytes, { last: at + piece >= text.length });
      rest = bytes.subarray(got.used);
      parts.push(got.fresh);
      lines += got.lines;
    }
    assert.equal(lines, 20003);
    assert.equal(rest.length, 0);
    assert.ok(Buffer.concat(parts).equals(theirs), `pieces of ${piece} bytes`);
  }
});

test('plans and predictions are those of the library', () => {
  const memories = ['64K', '1M', '16M', '256M'], wishes = ['0.1%', '1%', '5%'];
  let questions = 0;
  for (const memory of memories)
    for (const wish of wishes)
      for (const distinct of [1e5, 2e7]) {
        const args = ['plan', '--items', '1e8', '--distinct', `${distinct}`, '-m', memory, '--max-fpr', wish, '--json'];
        let theirs, ours;
        try {
          theirs = JSON.parse(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
        } catch {
          theirs = null;
        }
        try {
          ours = plan({ load: { items: 1e8, distinct }, maxBytes: parseFloat(memory) * (memory.endsWith('K') ? 1024 : 1048576),
            maxFpr: parseFloat(wish) / 100, prefer: 'fewest-misses' });
        } catch (error) {
          assert.ok(error instanceof EverbloomError && error.status === 'EB_ELIMIT', error.message);
          ours = null;
        }
        assert.equal(ours === null, theirs === null, args.join(' '));
        if (!ours) continue;
        assert.deepEqual(ours.map((o) => o.spec), theirs.offers.map((o) => o.filter), args.join(' '));
        theirs.offers.forEach((o, i) => assert.ok(Math.abs(ours[i].meanFpr - o.fpr) <= 1e-9 * o.fpr, args.join(' ')));
        questions++;
      }
  assert.ok(questions >= 20, `${questions} questions`);
  assert.ok(Math.abs(describe('bloom:memory=1M').bytes - 1048576) < 512);
  const curve = predict('lru:memory=64K', { items: 1e6, distinct: 5e5 }, [1e4, 1e5, 1e6]);
  assert.ok(curve[0].fill < curve[1].fill && curve[1].fill <= curve[2].fill);
  assert.ok(predict('bloom:distinct=1e6,fpr=0.01', { items: 1e6 }).fpr < 0.0101);
});

test('bad input gets the library\'s sentence', () => {
  assert.throws(() => new Filter('lru:memroy=64M'), { name: 'EverbloomError', message: /memroy.*memory/s });
  assert.throws(() => new Filter('bloom:memory=8G'), { name: 'EverbloomError', message: /memory/ });
  assert.throws(() => Filter.load(new Uint8Array(100)), EverbloomError);
  assert.throws(() => new Filter('dyadic:bits=8').add(['12', 'x']), { at: 1 });
  assert.throws(() => new Filter('lru').count('a'), EverbloomError);
  assert.throws(() => new Filter('lru').add(['a', 5]), /key 1 is no string/);
  assert.throws(() => new Filter('spectral').add(['a'], { values: [1, 2] }), /1 keys, but 2 values/);
  assert.throws(() => plan({ load: { itmes: 5 } }), /itmes/);
  const f = new Filter('lru:memory=4K');
  f.free();
  assert.throws(() => f.add('a'), /freed/);
});

test('docs/JAVASCRIPT.md: its example gives what stands beside it', async () => {
  const example = readFileSync('docs/JAVASCRIPT.md', 'utf8').match(/```js\nimport .*?;\n(.*?)```/s)[1];
  const said = [];
  const code = example.replace(/^(.*?);\s*\/\/ (.*)$/gm, (_, expression, comment) => {
    said.push(JSON.parse(comment.match(/^(?:\w+ )?(false|true|\d+|\[.*?\])/)[1]));
    return `got.push(${expression});`;
  });
  const AsyncFunction = (async () => {}).constructor, got = [];
  await new AsyncFunction('everbloom', 'got', code)(everbloom, got);
  assert.deepEqual(got.map((value) => (value instanceof Uint8Array ? [...value] : value)), said);
  assert.equal(said.length, 3);
});

test('memory is given back', () => {
  for (let i = 0; i < 2000; i++) new Filter('bloom:memory=4M').free();
  assert.ok(kinds().length > 10 && kinds().every((k) => k.options.length > 6));
  assert.match(version, /^\d+\.\d+\.\d+$/);
});
