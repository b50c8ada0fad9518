// question.mjs - what is asked: the fields of the page, which are the options of `everbloom plan`, and the address that carries them.
import { inLines, isTime, rate, types } from './words.mjs';

/** The text fields, by the names of the options.  `low` and `high` are the ends of the slider. */
export const FIELDS = [
  { name: 'memory', label: 'Memory', type: 'size', low: 1024, high: 2 ** 36, found: 'memory' },
  { name: 'items', label: 'Lines in the stream', type: 'count', low: 1e3, high: 1e12 },
  { name: 'distinct', label: 'Distinct keys among them', type: 'count', low: 1e3, high: 1e12, found: 'distinct' },
  { name: 'max-fpr', label: 'New lines taken for repeats, at most', type: 'share', low: 1e-9, high: 0.5, found: 'max_fpr' },
  { name: 'max-fnr', label: 'Repeats missed, at most', type: 'share', low: 1e-6, high: 0.5, found: 'max_fnr' },
  { name: 'gap', label: 'Distinct keys between a line and its repeat', type: 'count', low: 10, high: 1e11, found: 'gap' },
  { name: 'window', label: 'Window in which no repeat may be missed', type: 'length', low: 100, high: 1e10 },
  { name: 'rate', label: 'Lines in a second', type: 'count', low: 1, high: 1e7 },
  { name: 'zipf', label: 'Skew of the keys (Zipf exponent)', type: 'real', low: 0, high: 2, linear: true },
];
export const CHOICES = {
  order: ['', 'shuffled', 'recent', 'passes'],
  'fpr-is': ['', 'mean', 'end', 'worst'],
};
export const FLAGS = ['endless', 'all-kinds'];
export const NEEDS = ['count', 'remove', 'merge', 'importance', 'time', 'growth'];

/** A question is texts by name, flags that are true, and `need`, a list. */
export function fromHash(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const question = { need: given.getAll('need').filter((word) => NEEDS.includes(word)) };
  for (const { name } of FIELDS) if (given.get(name)) question[name] = given.get(name);
  for (const [name, words] of Object.entries(CHOICES)) if (words.includes(given.get(name))) question[name] = given.get(name);
  for (const name of FLAGS) if (given.has(name)) question[name] = true;
  return question;
}

export function toHash(question) {
  return `#${words(question).map(([name, value]) => (value === undefined ? name : `${name}=${encodeURIComponent(value)}`)).join('&')}`;
}

/** The same question to the command. */
export function toCommand(question) {
  const quoted = (text) => (/^[\w.%+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  return ['everbloom plan', ...words(question).map(([name, value]) => (value === undefined ? `--${name}` : `--${name} ${quoted(value)}`))].join(' ');
}

function words(question) {
  const all = [];
  for (const name of [...FIELDS.map((f) => f.name), ...Object.keys(CHOICES)]) if (question[name]) all.push([name, question[name]]);
  for (const name of FLAGS) if (question[name]) all.push([name]);
  for (const word of question.need ?? []) all.push(['need', word]);
  return all;
}

/** What is wrong with one field: a sentence, or nothing. */
export function wrong({ label, type }, text) {
  return text && Number.isNaN(types[type].read(text)) ? `“${label}” must be ${types[type].right}, not “${text}”.` : undefined;
}

/** The numbers that page_ask takes. */
export function toNumbers(question) {
  const read = (name) => (question[name] ? types[FIELDS.find((f) => f.name === name).type].read(question[name]) : 0);
  const time = question.window && isTime(question.window);
  const choice = (name) => Math.max(0, CHOICES[name].indexOf(question[name] ?? ''));
  return [read('items'), read('distinct'), read('gap'), time ? 0 : read('window'), time ? read('window') : 0, read('rate'), read('zipf'),
    read('memory'), read('max-fpr'), read('max-fnr'), choice('order'), choice('fpr-is'),
    (question.need ?? []).reduce((bits, word) => bits | (1 << NEEDS.indexOf(word)), 0), question.endless ? 1 : 0, question['all-kinds'] ? 1 : 0];
}

/** The library speaks of options and writes 9.77e5; the page has labels and writes 977 000. */
export function inWords(sentence) {
  const rates = { fpr: 'new lines taken for repeats', fnr: 'repeats missed' };
  const text = sentence.replace(/ \(--fpr-is end plans for that\)/, '').replace(/plan needs /, 'Give ').replace('--need growth', '“grow”')
    .replace(/\b(fpr|fnr)=([-+.\de]+\d)/g, (_, name, number) => `${rates[name]} at ${rate(Number(number))}`)
    .replace(/(?<![.\d])(\d+(?:\.\d+)?)([KMGT])(?![a-z])/g, (_, number, unit) => `${Number(number)} ${unit}iB`)
    .replace(/(?<![.\d])(?:\d+(?:\.\d+)?e\+?\d+|\d{5,})(?![.\d])/g, (number) => inLines(Number(number)))
    .replace(/(?<![\w-])(?:--|-)(m\b|[a-z][a-z-]+)/g, (all, name) => {
      const field = FIELDS.find((f) => f.name === (name === 'm' ? 'memory' : name));
      return field ? `“${field.label}”` : { endless: '“The stream never ends”', 'fpr-is': 'the choice of mean, end or worst' }[name] ?? all;
    }).replace(/(?<=\d) %/g, '\u00a0%');
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? '' : '.');
}
