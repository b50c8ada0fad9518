// serve.mjs FOLDER [PORT]: the page on loopback, compressed as static hosts do.  PORT 0, the default: a free one.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder, port = '0'] = process.argv.slice(2);
const page = gzipSync(readFileSync(join(folder, 'index.html')));
const server = createServer((request, response) => {
  const found = request.method === 'GET' && /^\/(index\.html)?(\?|$)/.test(request.url);
  response.writeHead(found ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', ...(found && { 'content-encoding': 'gzip' }) });
  response.end(found ? page : 'There is only one page here: /\n');
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
