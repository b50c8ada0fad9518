// page.mjs - how fast the page is, in Debian's chromium: `make web` first, then
//
//     node bench/page.mjs [ROUNDS]
//
// Each round starts the browser anew, with an empty profile, opens the page from a folder and from a server on loopback, and
// then asks the page's other questions.  Times are from the start of the navigation, and for questions from the moment they are asked.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from '../build/node/node_modules/playwright-core/index.mjs';

const GOALS = { load: 1000, 'first curve': 300, 'all curves': 1000, 'a question, to its curve': 300 };
const file = resolve('build/web/index.html');
const rounds = Number(process.argv[2] ?? 9);
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const server = spawn(process.execPath, ['web/serve.mjs', 'build/web'], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = String((await once(server.stdout, 'data'))[0]).trim();
const times = new Map();

function keep(where, what, milliseconds) {
  const key = `${where}\t${what}`;
  if (!times.has(key)) times.set(key, []);
  times.get(key).push(milliseconds);
}

const settled = (page) => page.waitForFunction(() => document.body.dataset.settled === location.hash);
const mark = (page, name) => page.evaluate((of) => performance.getEntriesByName(of).at(-1).startTime, name);

async function visit(where, url) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  await settled(page);
  keep(where, 'load', await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd));
  keep(where, 'first curve', await mark(page, 'curve'));
  keep(where, 'all curves', await mark(page, 'answered'));
  for (const link of await page.$$eval('#questions a', (all) => all.slice(1).map((a) => a.getAttribute('href')))) {
    const asked = await page.evaluate((hash) => {
      const now = performance.now();
      location.hash = hash;
      return now;
    }, link);
    await settled(page);
    keep(where, 'a question, to its curve', (await mark(page, 'curve')) - asked);
  }
  await browser.close();
}

for (let i = 0; i < rounds; i++) {
  await visit('from a folder', `file://${file}`);
  await visit('from a server', address);
}
server.kill();
const html = readFileSync(file);
console.log(`${Math.round(html.length / 1024)} KB, ${Math.round(gzipSync(html).length / 1024)} KB compressed (goal: 350)`);
console.log(`${'milliseconds'.padEnd(42)}  median  slowest  goal`);
for (const [key, all] of times) {
  const [where, what] = key.split('\t');
  const sorted = all.sort((a, b) => a - b);
  const number = (x, width) => x.toFixed(0).padStart(width);
  console.log(`${`${where}: ${what}`.padEnd(42)}${number(sorted[sorted.length >> 1], 8)}${number(sorted.at(-1), 9)}${number(GOALS[what], 6)}`);
}
