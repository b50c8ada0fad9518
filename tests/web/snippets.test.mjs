// snippets.test.mjs - the lines that the page gives to copy are run as they are printed: in C, Python, a Redis server and JavaScript.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromHash, toCommand } from '../../web/question.mjs';
import { snippets } from '../../web/snippets.mjs';
import everbloom from '../../build/npm/everbloom.mjs';

const B = 'build/release', folder = mkdtempSync(join(tmpdir(), 'everbloom-lines-')), socket = join(folder, 'redis');
const QUESTIONS = ['#distinct=1e9&max-fpr=0.1%25', '#memory=64M&items=1e9&distinct=3e8&max-fpr=1e-4', '#max-fpr=1e-5&window=10m&rate=5000', '#memory=1M&max-fpr=0.1%25&gap=1e5',
  '#items=1e7&distinct=1e6&max-fpr=1%25&need=count', '#memory=64K&max-fpr=1%25&gap=1e4&need=importance', '#distinct=1e6&max-fpr=1%25&need=growth',
  '#items=1e6&distinct=1e5&max-fpr=1%25&need=count&need=remove', '#memory=64K&items=1e6&distinct=5e5&max-fpr=5%25&order=recent'];
const offers = QUESTIONS.flatMap((hash) => JSON.parse(execFileSync(`${B}/everbloom`, ['plan', '--json', ...toCommand(fromHash(hash)).split(' ').slice(2)], { encoding: 'utf8' })).offers);
let server;

const run = (program, args, options) => execFileSync(program, args, { encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'], ...options });
const redis = (line) => run('redis-cli', ['-s', socket, ...line.split(' ')]).trim();

before(async () => {
  const [wheel] = readdirSync('build/python').filter((name) => name.endsWith('.whl'));
  run('python3', ['-m', 'zipfile', '-e', join('build/python', wheel), folder]);
  server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder, '--loadmodule', resolve(B, 'everbloom-redis.so')], { stdio: 'ignore' });
  for (let i = 0; !existsSync(socket); i++) {
    assert.ok(i < 600 && server.exitCode === null, 'the server does not start');
    await sleep(100);
  }
});
after(() => {
  server?.kill();
  rmSync(folder, { recursive: true });
});

test('every sort of lines is among the questions', () => {
  const printed = offers.map((offer) => snippets.C(offer)).join('\n');
  for (const part of ['&seen', '&there', '&count', '&milliseconds', '&importance']) assert.ok(printed.includes(part), part);
});

test('C: they compile without warnings, and answer', () => {
  offers.forEach((offer, i) => {
    const [include, ...lines] = snippets.C(offer).split('\n');
    const result = ['there', 'seen', 'count'].find((name) => lines.some((line) => line.includes(` ${name};`)));
    const once = lines.slice(0, lines.findIndex((line) => line.startsWith('if (eb_new')) + 1), each = lines.slice(once.length);
    writeFileSync(join(folder, 'lines.c'), `#include <stdio.h>
#include <string.h>
${include}
int main(void) {
    const char *const key = "a";
    const size_t length = strlen(key);
    const uint64_t milliseconds = 1000, importance = 3;
    (void)milliseconds, (void)importance;
${once.join('\n')}
    for (int i = 0; i < 2; i++) {
${each.join('\n')}
        printf("%g ", (double)${result});
    }
    eb_free(f);
}
`);
    const program = join(folder, `lines-${i}`);
    run('cc', ['-std=c11', '-Wall', '-Wextra', '-Werror', '-Iinclude', '-o', program, join(folder, 'lines.c'), `${B}/libeverbloom.a`, '-lm']);
    assert.equal(run(program).trim(), { there: '1 1', seen: '0 1', count: '1 2' }[result], snippets.C(offer));
  });
});

test('Python', () => {
  for (const offer of offers) {
    const lines = snippets.Python(offer), last = lines.split('\n').at(-1), result = last.split(' ')[0];
    const said = run('python3', ['-c', `key, keys, milliseconds, importance = "a", ["a", "b", "a"], 1000, 3\n${lines}\nprint(${result})\n${last}\nprint(${result})\n`],
      { env: { ...process.env, PYTHONPATH: folder } }).trim().split('\n').join(' ');
    assert.equal(said, { there: 'True True', seen: 'False True', count: '2 2' }[result].replace(/2/g, said.includes('.') ? '2.0' : '2'), lines);
  }
});

test('Redis', () => {
  for (const offer of offers) {
    const lines = snippets.Redis(offer).replaceAll('importance', '3').split('\n');
    const said = lines.map(redis);
    assert.deepEqual(said.map((line) => line.replace(/^1\.0*$/, '1')), lines.map((line) => (/^(CONFIG|EB.RESERVE)/.test(line) ? 'OK' : '1')), lines.join('\n'));
    const again = redis(lines.find((line) => line.startsWith('EB.ADD')));
    assert.equal(again, '0', lines.join('\n'));
    redis('DEL name');
  }
});

test('JavaScript', async () => {
  const AsyncFunction = (async () => {}).constructor;
  for (const offer of offers) {
    const lines = snippets.JavaScript(offer), result = /const (\w+) = [^\n]*$/.exec(lines)[1];
    const body = lines.replace(/^import .*\n/, '');
    const said = await new AsyncFunction('everbloom', 'key', 'keys', 'milliseconds', 'importance', `${body}\nconst again = f.add(key, ${/\{ [^}]*\}(?=\);$)/.exec(lines)?.[0] ?? '{}'});\nf.free();\nreturn [${result}, again];`)(everbloom, 'a', ['a', 'b', 'a'], 1000, 3);
    assert.deepEqual(said, { there: [true, true], seen: [false, true], count: [2, true] }[result], lines);
  }
});
