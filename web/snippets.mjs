// snippets.mjs - an offer as lines to copy.  What they leave open is what the reader has: keys, and milliseconds or an importance with
// them.

/** Redis refuses larger filters unless it is told otherwise; WebAssembly has no more. */
const REDIS_BYTES = 1e9, WASM_BYTES = 4 * 2 ** 30 - 2 ** 26;

/** The spec without what is so by default, as the command has it. */
export function shortSpec(offer) {
  return /--filter (\S+)/.exec(offer.command)[1];
}

/** What is done with a key: it is counted, put into a set, or added to see whether it is new; and what comes with it. */
function useOf(offer) {
  const verb = /^everbloom (\w+)/.exec(offer.command)[1];
  const given = /unit=time/.test(offer.filter) ? 'milliseconds' : /keep=important/.test(offer.filter) ? 'importance' : undefined;
  return { counts: verb === 'count', isSet: verb === 'add', given };
}

function inC(offer) {
  const { counts, isSet, given } = useOf(offer);
  const make = `#include <everbloom/everbloom.h>\n\neb_filter *f;\neb_error err;\nif (eb_new(&f, "${shortSpec(offer)}", NULL, &err)) puts(err.text);\n`;
  if (given) {
    return `${make}const eb_key one = {key, length};
const eb_keys keys = eb_keys_array(EB_STRING, &one);
eb_batch batch = eb_batch_keys(&keys, 1);
uint8_t seen;
batch.${given === 'milliseconds' ? 'time' : 'value'} = &${given};
batch.seen = &seen;
if (eb_add_batch(f, &batch, &err)) puts(err.text);`;
  }
  if (counts) return `${make}double count;\neb_add(f, key, length, NULL, NULL);\neb_ask(f, key, length, NULL, &count, NULL);`;
  if (isSet) return `${make}bool there;\neb_add(f, key, length, NULL, NULL);\neb_ask(f, key, length, &there, NULL, NULL);`;
  return `${make}bool seen;\neb_add(f, key, length, &seen, NULL);`;
}

function inPython(offer) {
  const { counts, isSet, given } = useOf(offer);
  const make = `import everbloom\n\nf = everbloom.Filter("${shortSpec(offer)}")\n`;
  if (counts) return `${make}f.update(keys)\ncount = f.count(key)`;
  if (isSet) return `${make}f.update(keys)\nthere = key in f`;
  return `${make}seen = f.add(key${given ? `, ${given === 'milliseconds' ? 'time' : 'value'}=${given}` : ''})`;
}

function inRedis(offer) {
  const { counts, isSet, given } = useOf(offer);
  const allow = offer.bytes > REDIS_BYTES ? `CONFIG SET everbloom.max-filter-bytes ${Math.ceil(1.01 * offer.bytes)}\n` : '';
  return `${allow}EB.RESERVE name ${shortSpec(offer)}\nEB.ADD name item${given === 'importance' ? ' WEIGHT importance' : ''}${counts ? '\nEB.COUNT name item' : isSet ? '\nEB.EXISTS name item' : ''}`;
}

function inJavaScript(offer) {
  const { counts, isSet, given } = useOf(offer);
  if (offer.bytes > WASM_BYTES) return '// WebAssembly has 4 GiB of memory, and this filter needs more.';
  const make = `import everbloom from 'everbloom';\n\nconst { Filter } = await everbloom();\nconst f = new Filter('${shortSpec(offer)}');\n`;
  if (counts) return `${make}f.add(keys);\nconst count = f.count(key);`;
  if (isSet) return `${make}f.add(keys);\nconst there = f.has(key);`;
  return `${make}const seen = f.add(key${given ? `, { ${given === 'milliseconds' ? 'times' : 'values'}: ${given} }` : ''});`;
}

export const snippets = { Command: (offer) => offer.command, C: inC, Python: inPython, Redis: inRedis, JavaScript: inJavaScript };
