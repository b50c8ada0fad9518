// build.mjs FOLDER MODULES WASM PACKAGE: puts the page together, as one file that works from a folder and from any host.
//
// Modules are joined in the order of their imports; there are no two names alike among them.  The library is compressed in
// the file itself, since a folder compresses nothing.  The page may run what is in it and connect to nowhere.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder, modules, wasm, npm] = process.argv.slice(2);
const here = new URL('.', import.meta.url);
const text = (name) => readFileSync(new URL(name, here), 'utf8');
const plain = (source) => source.replace(/^import .* from '.*';\n/gm, '').replace(/^export default .*\n/gm, '').replace(/^export /gm, '').replaceAll('import.meta.url', 'location.href');

const uPlot = (name) => readFileSync(join(modules, 'uplot/dist', name), 'utf8');
const worker = [readFileSync(join(npm, 'everbloom.mjs'), 'utf8'), text('words.mjs'), text('question.mjs'), text('worker.mjs')].map(plain).join('\n');
const page = ['words.mjs', 'question.mjs', 'charts.mjs', 'snippets.mjs', 'page.mjs'].map(text).map(plain).join('\n');
const styles = `${uPlot('uPlot.min.css')}\n${text('style.css')}`;
const scripts = [plain(text('helper.mjs')), uPlot('uPlot.iife.min.js'), page];
const sum = (source) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${scripts.map(sum).join(' ')} blob: 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'`;

const html = text('index.html')
  .replace('<!-- style -->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${styles}</style>`)
  .replace('<!-- scripts -->', () => `<script type="text/plain" id="library">${gzipSync(readFileSync(wasm), { level: 9 }).toString('base64')}</script>
<script type="text/plain" id="worker">${worker.replaceAll('</script', '<\\/script')}</script>
<script>${scripts[0]}</script>
<script>${scripts[1]}</script>
<script type="module">${scripts[2]}</script>`);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'index.html'), html);
console.log(`${join(folder, 'index.html')}: ${Math.round(html.length / 1024)} KB, ${Math.round(gzipSync(html).length / 1024)} KB as a host sends it`);
