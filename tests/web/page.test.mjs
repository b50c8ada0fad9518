// page.test.mjs - the page in a real browser, beside the command: run by node --test.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chromium } from '../../build/node/node_modules/playwright-core/index.mjs';
import { fromHash, inWords, toCommand, toHash, wrong } from '../../web/question.mjs';
import { bytes, rate, types } from '../../web/words.mjs';

const command = 'build/release/everbloom';
const file = resolve('build/web/index.html');
const folder = mkdtempSync(join(tmpdir(), 'everbloom-page-'));
let browser, server, address;

before(async () => {
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  server = spawn(process.execPath, ['web/serve.mjs', 'build/web'], { stdio: ['ignore', 'pipe', 'inherit'] });
  address = String((await once(server.stdout, 'data'))[0]).trim();
});
after(async () => {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true });
});

/** A page at an address, whose errors fail the test. */
async function open(url, options) {
  const page = await browser.newPage(options);
  page.errors = [];
  page.requests = [];
  page.on('pageerror', (error) => page.errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && page.errors.push(message.text()));
  page.on('request', (request) => page.requests.push(request.url()));
  await page.goto(url);
  await settled(page);
  return page;
}

async function settled(page) {
  await page.waitForFunction(() => document.body.dataset.settled === location.hash, null, { timeout: 30000 });
}

async function ask(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await settled(page);
}

function plan(hash) {
  return JSON.parse(execFileSync(command, ['plan', '--json', ...toCommand(fromHash(hash)).split(' ').slice(2)], { encoding: 'utf8' }));
}

const QUESTIONS = [
  '#distinct=1e9&max-fpr=0.1%25', '#memory=1M&max-fpr=1%25', '#memory=64M&items=1e9&distinct=3e8&max-fpr=1e-4', '#memory=64M&max-fpr=1e-6&endless',
  '#max-fpr=1e-5&window=10m&rate=5000', '#items=1e7&distinct=1e6&max-fpr=1%25&need=count', '#memory=138K&items=3e6&distinct=552820&max-fpr=10%25&order=shuffled',
  '#distinct=1e6&max-fpr=1%25&fpr-is=end', '#memory=1M&distinct=1e6', '#memory=64K&max-fpr=1%25&gap=1e4&need=importance', '#distinct=1e6&max-fpr=1%25&need=growth',
  '#max-fpr=1e-3&window=1e6', '#memory=1M&max-fpr=0.1%25&gap=1e5', '#max-fpr=0.1%25&max-fnr=1%25&gap=1e5', '#items=1e6&distinct=1e5&max-fpr=1%25&need=count&need=remove',
  '#memory=256K&items=1e6&distinct=2e5&max-fpr=1%25&zipf=1.1', '#memory=2GB&items=1e10&distinct=1e9&max-fpr=1e-3', '#memory=64K&items=1e6&distinct=5e5&max-fpr=5%25&order=recent',
  '#distinct=123456&max-fpr=1e-9', '#distinct=1e5&max-fpr=1%25&need=merge', '#memory=16M&items=1e8&distinct=2e7&max-fpr=1%25&all-kinds',
];

test('one file, 350 KB at most as a host sends it, which says that it connects to nowhere', () => {
  const html = readFileSync(file);
  assert.ok(gzipSync(html).length <= 350 * 1024, `${gzipSync(html).length} bytes`);
  assert.match(String(html), /connect-src 'none'/);
});

test(`${QUESTIONS.length} questions have the command's answers`, async () => {
  const page = await open(`file://${file}`);
  for (const hash of QUESTIONS) {
    await ask(page, hash);
    const theirs = plan(hash);
    assert.equal(await page.textContent('#sentence'), inWords(theirs.sentence), hash);
    assert.equal(await page.textContent('#snippet code'), theirs.command, hash);
    const rows = await page.$$eval('#offers tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    assert.deepEqual(rows, theirs.offers.map((o) => [o.kind, bytes(o.bytes), rate(o.worst_fpr), rate(o.worst_fnr), String(Math.round(o.lines)), o.why]), hash);
    assert.equal(await page.textContent('#over-stream-title'), /[#&](items|gap|window|endless)/.test(hash) ? 'As the stream goes on' : 'As it fills', hash);
    const drawn = await page.$$eval('.plot canvas', (all) => all.map((canvas) => canvas.width > 100));
    assert.deepEqual(drawn, [true, true], hash);
  }
  assert.deepEqual(page.errors, []);
  assert.deepEqual(page.requests.filter((url) => !/^(blob|data):/.test(url)), [`file://${file}`]);
  await page.close();
});

test('curves are those of predict, and pass through the answer', async () => {
  const page = await open(`${address}${QUESTIONS[0]}`);
  for (const hash of ['#distinct=1e6&max-fpr=1%25&memory=1M', QUESTIONS[0], QUESTIONS[2], QUESTIONS[5], QUESTIONS[7], QUESTIONS[8]]) {
    await ask(page, hash);
    const { offers, items, distinct } = plan(hash);
    const [best] = offers;
    const label = await page.getAttribute('#over-stream', 'aria-label');
    const end = JSON.parse(execFileSync(command, ['predict', '--json', '--items', `${items}`, '--distinct', `${distinct}`, best.filter], { encoding: 'utf8' }));
    assert.ok(label.includes(`to ${rate(end.fpr)}, repeats`), label);
    const table = await page.$$eval('figure:nth-of-type(1) .table tbody tr', (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.equal(table[4][0], bytes(best.bytes), hash);
    const there = parseFloat(table[4][1]);
    assert.ok(table[4][1].endsWith(' %') && Math.abs(there / (100 * best.worst_fpr) - 1) < 0.05, `${hash}: ${table[4][1]} at ${table[4][0]}, but ${rate(best.worst_fpr)} in the answer`);
  }
  await page.close();
});

test('the question is in the address, and the fields follow it', async () => {
  const page = await open(`${address}#memory=1M&max-fpr=1%25`);
  await page.fill('#max-fpr', '0.1%');
  await settled(page);
  assert.match(page.url(), /max-fpr=0\.1%25/);
  const other = await open(page.url());
  assert.equal(await other.textContent('#sentence'), await page.textContent('#sentence'));
  await page.getByRole('slider', { name: 'Memory, slider' }).press('ArrowRight');
  await settled(page);
  assert.notEqual(await page.inputValue('#memory'), '1M');
  assert.notEqual(await other.textContent('#sentence'), await page.textContent('#sentence'));
  await page.close();
  await other.close();
  for (const hash of QUESTIONS) assert.equal(toHash(fromHash(hash)), hash);
});

test('bad input gets one clear sentence', async () => {
  const page = await open(address);
  const cases = [
    ['#memory=64X&max-fpr=1%25', /^“Memory” must be a size from 1K to 64T, such as 500K, 64M or 2GiB, not “64X”\.$/],
    ['#distinct=1e6&max-fpr=2', /^“New lines taken for repeats, at most” must be a share from 1e-9 to 0\.5/],
    ['#items=10&distinct=11&max-fpr=1%25', /^“Distinct keys among them” must not be more than “Lines in the stream”\.$/],
    ['#max-fpr=1e-6&window=10m', /^A “Window in which no repeat may be missed” of time needs “Lines in a second”/],
    ['#max-fpr=1e-6&gap=10&window=10', /^“Distinct keys between a line and its repeat” and “Window in which no repeat may be missed”: give one of them\.$/],
    ['#need=merge', /^Give “Memory” or “New lines taken for repeats, at most”\.$/],
    ['#need=growth&memory=1M&max-fpr=1%25', /^“grow” needs “Distinct keys among them”, the keys to start with: it grows when there are more\.$/],
    ['#memory=4K&items=1e9&distinct=5e8&max-fpr=1e-6&max-fnr=1%25', /^No kind of filter keeps new lines taken for repeats at 1 in a million and repeats missed at 1.% in 4 KiB for 500.million distinct keys; bloom would with 1\.4 GiB; no structure whatever can with less than 879 MiB\.$/],
  ];
  for (const [hash, sentence] of cases) {
    await ask(page, hash);
    assert.match(await page.textContent('#sentence'), sentence, hash);
    assert.equal(await page.isVisible('#answered'), false, hash);
  }
  await ask(page, QUESTIONS[0]);
  assert.equal(await page.isVisible('#answered'), true);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('for keyboards and screen readers: names, states, live regions; no sideways scrolling on a phone', async () => {
  const page = await open(`${address}${QUESTIONS[6]}`, { viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
  const nameless = await page.$$eval('input, select, button, [role=img], [role=tabpanel]', (all) => all.filter((e) =>
    !e.labels?.length && !e.getAttribute('aria-label') && !e.textContent.trim()).map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  assert.equal(await page.getAttribute('#sentence', 'aria-live'), 'polite');
  await ask(page, '#memory=64K&max-fpr=0.1%25&endless'); // a long command
  for (const mode of ['dedup', 'count']) {
    await page.check(`[name=mode][value=${mode}]`);
    await page.setInputFiles('#pick', { name: `${'long'.repeat(30)}.txt`, mimeType: 'text/plain', buffer: Buffer.from(`${'word'.repeat(2000)}\nb\nb\n`) });
    await page.waitForFunction((words) => document.getElementById('told').textContent.includes(words), mode === 'dedup' ? '1 were dropped' : 'The list has all');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
  }
  await ask(page, QUESTIONS[6]);
  await page.getByRole('tab', { name: 'Command' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.textContent('#snippet code'), /eb_new\(&f, "choosy:/);
  await page.getByRole('radio', { name: 'lru' }).focus();
  await page.keyboard.press('Space');
  assert.match(await page.textContent('#snippet code'), /eb_new\(&f, "lru:/);
  const question = page.url();
  await page.focus('.skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'answer');
  assert.equal(page.url(), question);
  assert.deepEqual(await page.$$eval('h1, h2', (all) => all.map((h) => `${h.tagName} ${h.textContent.trim()}`)),
    ['H1 How much memory, which filter, what will it lose?', 'H2 The question', 'H2 The answer', 'H2 Curves', 'H2 Try it on a file']);
  await page.fill('#memory', 'x');
  await settled(page);
  assert.equal(await page.getAttribute('#memory', 'aria-invalid'), 'true');
  assert.match(await page.textContent(`#${await page.getAttribute('#memory', 'aria-describedby')}`), /must be a size/);
  await page.close();
});

/** 50 MB of lines of many lengths, every third of them a repeat; CR, empty lines, no newline at the end. */
function sample(size) {
  const lines = [];
  for (let i = 0, n = 0; n < size; i++) {
    const id = i % 3 === 2 ? Math.floor(i / 2) : i;
    const line = i % 1000 === 7 ? '' : `${(id * 2654435761) % 4294967296} user-${id % 5000} ${'x'.repeat(id % 23)}${i % 4001 === 5 ? '\r' : ''}`;
    lines.push(line);
    n += line.length + 1;
  }
  return lines.join('\n');
}

async function save(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#outcome .save')]);
  const path = join(folder, `saved-${Math.random()}`);
  await download.saveAs(path);
  return readFileSync(path);
}

test('a file of 50 MB is de-duplicated as the command does it', async () => {
  const path = join(folder, 'lines.txt');
  writeFileSync(path, sample(50e6));
  const page = await open(`file://${file}#memory=2M&max-fpr=0.1%25&endless`);
  await page.setInputFiles('#pick', path);
  await page.waitForSelector('#outcome .save', { timeout: 120000 });
  const filter = /--filter (\S+) /.exec(await page.textContent('#outcome p:nth-child(2)'))[1];
  const theirs = execFileSync(command, ['dedup', '--filter', filter, path], { maxBuffer: 1 << 27 });
  const ours = await save(page);
  assert.ok(theirs.length > 10e6 && theirs.length < 45e6, `${theirs.length} bytes`);
  assert.ok(ours.equals(theirs), `${ours.length} and ${theirs.length} bytes`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('lines are counted; filters that cannot say why', async () => {
  const path = join(folder, 'words');
  const words = Array.from({ length: 30000 }, (_, i) => `wörd ${Math.floor(100 * (((i * 7919) % 30000) / 30000) ** 2)}`);
  writeFileSync(path, `${words.join('\n')}\n`);
  const page = await open(`${address}${QUESTIONS[4]}`);
  await page.setInputFiles('#pick', path);
  await page.waitForSelector('#outcome .wrong');
  assert.match(await page.textContent('#outcome'), /This window is in time/);
  await page.check('[name=mode][value=count]');
  await page.setInputFiles('#pick', path);
  await page.waitForSelector('#outcome table');
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const listed = String(await save(page)).trim().split('\n').map((line) => line.split('\t'));
  assert.equal(listed.length, counts.size);
  for (const [count, word] of listed) assert.equal(Number(count), counts.get(word), word);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('quantities are read as the command reads them', () => {
  const reads = { size: [['500K', 512000], ['64M', 67108864], ['2GiB', 2147483648], ['2GB', 2e9], ['1', NaN], ['-5M', NaN]],
    count: [['10M', 1e7], ['1e9', 1e9], ['1 000 000', 1e6], ['0', NaN], ['1e19', NaN], ['ten', NaN]],
    share: [['0.1%', 0.001], ['1e-6', 1e-6], ['0.6', NaN], ['1e-10', NaN]], length: [['10m', 600], ['24h', 86400], ['1e6', 1e6], ['10M', 1e7], ['0s', NaN]] };
  for (const [type, cases] of Object.entries(reads))
    for (const [text, value] of cases) assert.ok(Object.is(types[type].read(text), value) || Math.abs(types[type].read(text) / value - 1) < 1e-12, `${type} ${text}`);
  assert.equal(wrong({ label: 'Memory', type: 'size' }, ''), undefined);
});
