// better.mjs EXTENSION: better-sqlite3 as its users write it, with the extension.  NODE_MODULES says where the package is.
import assert from 'node:assert';
import { createRequire } from 'node:module';

const Database = createRequire(process.env.NODE_MODULES + '/x')('better-sqlite3');
const db = new Database(':memory:');
db.loadExtension(process.argv[2]);
db.exec(`create table log(url text, n integer);
    with recursive c(i) as (select 1 union all select i + 1 from c where i < 5000)
    insert into log select '/page/' || (i % 1000), i % 1000 from c`);

// A filter is a Buffer: bound again, it answers.  Numbers of JavaScript are bound as floating-point ones.
const { f } = db.prepare("select evb_agg(n, 'bloom:distinct=1000,fpr=0.001') as f from log").get();
assert(Buffer.isBuffer(f));
const has = db.prepare('select evb_has(?, ?)').pluck();
for (const key of [7, '7', 7n, '999']) assert.equal(has.get(f, key), 1);
assert.equal(has.get(f, 'nobody'), 0);
assert.equal(db.prepare('select count(*) from log where evb_has(?, n)').pluck().get(f), 5000);
assert.equal(has.get(f, 7.5), 0);
assert.throws(() => has.get(Buffer.from('no filter'), 'a'), { code: 'SQLITE_ERROR', message: /^evb_has: / });

assert.equal(db.prepare("select count(*) from log where evb_new(url, 'lru:memory=64K')").pluck().get(), 1000);
assert.equal(db.prepare("select evb_open('bad', ?)").pluck().get(f), 'bad');
assert.equal(db.prepare("select evb_has('bad', '12')").pluck().get(), 1);
const list = db.prepare("select evb_agg(url, 'top:memory=64K') from log where n < 3").pluck().get();
assert.deepEqual(db.prepare('select key, count from evb_top(?, 3) order by key').all(list),
    [0, 1, 2].map((i) => ({ key: `/page/${i}`, count: 5 })));
db.close();
console.log(`better-sqlite3 on node ${process.version}: ok`);
