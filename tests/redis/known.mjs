// known.mjs - the commands that npm redis knows, as its users write them, on RESP2 and RESP3.
// node known.mjs PORT, with NODE_PATH or node_modules where `redis` is.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_MODULES + "/");
const { createClient } = require("redis");

for (const RESP of [2, 3]) {
  const client = createClient({ socket: { host: "127.0.0.1", port: Number(process.argv[2]) }, RESP });
  await client.connect();
  await client.flushAll();

  assert.equal(await client.bf.reserve("bloom", 0.01, 1000), "OK");
  assert.equal(await client.bf.add("bloom", "foo"), true);
  assert.equal(await client.bf.add("bloom", "foo"), false);
  assert.deepEqual(await client.bf.mAdd("bloom", ["foo", "bar", "baz"]), [false, true, true]);
  assert.equal(await client.bf.exists("bloom", "foo"), true);
  assert.equal(await client.bf.exists("bloom", "no"), false);
  assert.deepEqual(await client.bf.mExists("bloom", ["foo", "no"]), [true, false]);
  assert.deepEqual(await client.bf.insert("inserted", ["a", "a"], { CAPACITY: 500, ERROR: 0.001, EXPANSION: 4 }), [true, false]);
  assert.equal(await client.bf.card("bloom"), 3);
  const info = await client.bf.info("bloom");
  assert.equal(info["Capacity"], 1000);
  assert.equal(info["Number of items inserted"], 3);
  assert.equal(info["Expansion rate"], 2);
  const dump = await client.bf.scanDump("bloom", 0);
  assert.ok(dump.iterator > 0 && dump.chunk.length > 0);
  await assert.rejects(client.bf.reserve("bloom", 0.01, 1000), /item exists/);
  await assert.rejects(client.bf.info("none"), /not found/);

  assert.equal(await client.cms.initByDim("A", 1000, 5), "OK");
  assert.equal(await client.cms.initByProb("P", 0.001, 0.01), "OK");
  assert.equal(await client.cms.initByDim("B", 1000, 5), "OK");
  assert.deepEqual(await client.cms.incrBy("A", [{ item: "x", incrementBy: 3 }, { item: "y", incrementBy: 4 }]), [3, 4]);
  assert.deepEqual(await client.cms.query("A", ["x", "y", "z"]), [3, 4, 0]);
  assert.equal(await client.cms.merge("B", [{ name: "A", weight: 2 }]), "OK");
  assert.deepEqual(await client.cms.query("B", ["x", "y"]), [6, 8]);
  const sketch = await client.cms.info("A");
  assert.equal(Number(sketch.width), 1000);
  assert.equal(Number(sketch.count), 7);

  assert.equal(await client.cf.reserve("C", 1000), "OK");
  assert.equal(await client.cf.add("C", "x"), true);
  assert.equal(await client.cf.addNX("C", "x"), false);
  assert.equal(await client.cf.exists("C", "x"), true);
  assert.equal(await client.cf.count("C", "x"), 1);
  assert.equal(await client.cf.del("C", "x"), true);
  assert.equal(await client.cf.exists("C", "x"), false);
  assert.deepEqual(await client.cf.insert("C", ["a", "b"]), [true, true]);
  assert.equal((await client.cf.info("C"))["Number of items deleted"], 1);

  assert.equal(await client.topK.reserve("T", 2), "OK");
  assert.deepEqual(await client.topK.add("T", ["a", "b", "a", "c"]), [null, null, null, null]);
  assert.deepEqual(await client.topK.incrBy("T", { item: "b", incrementBy: 5 }), [null]);
  assert.deepEqual(await client.topK.list("T"), ["b", "a"]);
  assert.deepEqual(await client.topK.query("T", ["a", "c"]), [true, false]);
  assert.deepEqual((await client.topK.listWithCount("T")).map((row) => [row.item, Number(row.count)]), [["b", 6], ["a", 2]]);
  assert.equal(Number((await client.topK.info("T")).k), 2);

  // Items that expire: one word more than the client knows.
  assert.equal(await client.sendCommand(["BF.RESERVE", "fresh", "0.001", "10000", "WINDOW", "600"]), "OK");
  assert.equal(await client.bf.add("fresh", "a"), true);
  assert.equal(await client.bf.exists("fresh", "a"), true);
  await client.close();
}
console.log("known.mjs: RESP2 and RESP3");
