// page.mjs - the page: a form that is a question, an answer that follows it, and files.
import { Chart } from './charts.mjs';
import { Helper, planner } from './helper.mjs';
import { CHOICES, FIELDS, FLAGS, fromHash, inWords, toCommand, toHash, wrong } from './question.mjs';
import { shortSpec, snippets } from './snippets.mjs';
import { bytes, inLines, rate, types, whole } from './words.mjs';

const QUESTIONS = [
  ['How much memory for a billion keys?', '#distinct=1e9&max-fpr=0.1%25'],
  ['What does a megabyte hold?', '#memory=1M&max-fpr=1%25'],
  ['Drop repeats in 64 MB: what is lost?', '#memory=64M&items=1e9&distinct=3e8&max-fpr=1e-4'],
  ['How far back can 64 MB remember?', '#memory=64M&max-fpr=1e-6&endless'],
  ['Once in ten minutes', '#max-fpr=1e-5&window=10m&rate=5000'],
  ['How often does each key occur?', '#items=1e7&distinct=1e6&max-fpr=1%25&need=count'],
];
const FIRST = QUESTIONS[0][1];
const MAIN_FIELDS = 4, LISTED = 20;
const $ = (id) => document.getElementById(id);

// ---- The form.

function fieldOf({ name, label, type, low, high, linear, found }) {
  const box = document.createElement('div');
  box.className = 'field empty';
  box.innerHTML = `<label for="${name}">${label}</label><div class="row"><div class="entry">
    <input type="text" id="${name}" placeholder="not given" aria-describedby="${name}-wrong" spellcheck="false" autocapitalize="off">
    <button type="button" class="clear" aria-label="Clear: ${label}" title="Clear">×</button></div>
    <input type="range" min="0" max="240" aria-label="${label}, slider"></div><p class="wrong" id="${name}-wrong" hidden></p>`;
  const [text, slider] = box.querySelectorAll('input');
  const field = { name, type, box, text, slider, found, label,
    at: (value) => Math.round(240 * (linear ? (value - low) / (high - low) : Math.log(value / low) / Math.log(high / low))),
    value: (at) => (linear ? low + ((high - low) * at) / 240 : low * (high / low) ** (at / 240)) };
  slider.addEventListener('input', () => {
    const value = field.value(slider.valueAsNumber);
    text.value = types[type].write(linear ? value : Number(value.toPrecision(2)));
    slider.setAttribute('aria-valuetext', text.value);
    changed();
  });
  text.addEventListener('input', changed);
  box.querySelector('.clear').addEventListener('click', () => {
    text.value = '';
    text.focus();
    changed();
  });
  return field;
}

const fields = FIELDS.map(fieldOf);
fields.forEach((field, i) => $(i < MAIN_FIELDS ? 'fields' : 'more-fields').append(field.box));
const needs = [...document.querySelectorAll('[name=need]')];
for (const control of [...Object.keys(CHOICES), ...FLAGS].map($).concat(needs)) control.addEventListener('change', changed);
$('form').addEventListener('submit', (event) => event.preventDefault());
$('questions').innerHTML = QUESTIONS.map(([words, hash]) => `<li><a href="${hash}">${words}</a></li>`).join('');

function read() {
  const question = { need: needs.filter((box) => box.checked).map((box) => box.value) };
  for (const { name, text } of fields) if (text.value.trim()) question[name] = text.value.trim();
  for (const name of Object.keys(CHOICES)) if ($(name).value) question[name] = $(name).value;
  for (const name of FLAGS) if ($(name).checked) question[name] = true;
  return question;
}

function write(question) {
  for (const { name, text } of fields) text.value = question[name] ?? '';
  for (const name of Object.keys(CHOICES)) $(name).value = question[name] ?? '';
  for (const name of FLAGS) $(name).checked = Boolean(question[name]);
  for (const box of needs) box.checked = question.need.includes(box.value);
  const hidden = [...FIELDS.slice(MAIN_FIELDS).map((f) => f.name), ...Object.keys(CHOICES), ...FLAGS];
  if (question.need.length > 0 || hidden.some((name) => question[name])) $('more').open = true;
}

/** Marks what is wrong; the first of it. */
function check(question) {
  let first;
  for (const field of fields) {
    const sentence = wrong(field, question[field.name]);
    const note = $(`${field.name}-wrong`);
    first ??= sentence;
    field.text.setAttribute('aria-invalid', sentence ? 'true' : 'false');
    note.textContent = sentence ?? '';
    note.hidden = !sentence;
    field.box.classList.toggle('empty', !question[field.name]);
    if (question[field.name] && !sentence) field.slider.value = field.at(types[field.type].read(question[field.name]));
  }
  return first;
}

function changed() {
  const question = read();
  history.replaceState(null, '', toHash(question));
  follow(question);
}

// ---- The answer.

const charts = { memory: new Chart($('over-memory'), 'memory', true), stream: new Chart($('over-stream'), 'lines so far', false) };
let latest = 0, busy = false, waiting, answer, chosen = 0, tab = 'Command';

/** One question at a time is worked on, and of those that come meanwhile only the last. */
async function follow(question) {
  $('command-line').innerHTML = '';
  for (const part of toCommand(question).split(/ (?=--)/)) $('command-line').append(Object.assign(document.createElement('span'), { textContent: part }), ' ');
  for (const link of $('questions').querySelectorAll('a'))
    toHash(question) === link.getAttribute('href') ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current');
  waiting = { question, number: ++latest };
  if (busy) return;
  busy = true;
  while (waiting) {
    const { question: now, number } = waiting;
    waiting = undefined;
    try {
      await say(now, () => number === latest);
    } catch (error) {
      complain(error.message);
    }
  }
  busy = false;
  document.body.dataset.settled = location.hash;
}

function complain(sentence) {
  $('sentence').textContent = sentence;
  $('sentence').classList.add('wrong');
  $('answered').hidden = $('curves').hidden = true;
  answer = undefined;
}

async function say(question, isLatest) {
  const sentence = check(question);
  for (const field of fields) {
    field.text.placeholder = 'not given';
    field.box.classList.remove('found');
  }
  if (sentence) return complain(sentence);
  document.body.classList.add('waiting');
  const got = await planner.call('ask', question);
  document.body.classList.remove('waiting');
  if (!isLatest()) return undefined;
  if (got.error) return complain(inWords(got.error));
  answer = { ...got, question };
  chosen = 0;
  $('sentence').classList.remove('wrong');
  const text = inWords(got.sentence);
  $('sentence').replaceChildren(...text.split(/(?<=^Use )([^:]*)(?=:)/).map((part, i) => (i === 1 ? Object.assign(document.createElement('b'), { textContent: part }) : part)));
  $('answered').hidden = $('curves').hidden = false;
  showFound();
  showOffers();
  return showOffer(isLatest);
}

const FOUND = { size: bytes, count: inLines, share: rate };

/** What was left empty shows what came out. */
function showFound() {
  const best = answer.offers[0];
  const out = { memory: best.bytes, distinct: answer.found === 'distinct' && answer.distinct, gap: answer.gap, max_fpr: best.worst_fpr, max_fnr: best.worst_fnr };
  for (const field of fields) {
    const value = out[field.found];
    if (!(value > 0) || field.text.value) continue;
    field.text.placeholder = `= ${FOUND[field.type](value)}`;
    field.box.classList.add('found');
    field.slider.value = field.at(value);
  }
}

function showOffers() {
  $('offers').tBodies[0].innerHTML = answer.offers.map((o, i) => `<tr><th scope="row"><label><input type="radio" name="offer" value="${i}"> ${o.kind}</label></th><td>${bytes(o.bytes)}</td>
    <td>${rate(o.worst_fpr)}</td><td>${rate(o.worst_fnr)}</td><td>${Math.round(o.lines)}</td><td></td></tr>`).join('');
  [...$('offers').tBodies[0].rows].forEach((row, i) => {
    row.lastElementChild.textContent = answer.offers[i].why;
    row.querySelector('input').addEventListener('change', () => {
      chosen = i;
      const number = latest;
      showOffer(() => number === latest && chosen === i);
    });
  });
}

async function showOffer(isLatest) {
  const offer = answer.offers[chosen];
  [...$('offers').tBodies[0].rows].forEach((row, i) => {
    row.classList.toggle('chosen', i === chosen);
    row.querySelector('input').checked = i === chosen;
  });
  showSnippet();
  const bounds = [['fpr', types.share.read(answer.question['max-fpr'] ?? '')], ['fnr', types.share.read(answer.question['max-fnr'] ?? '')]];
  const given = { load: answer.load, offer };
  const isSet = !['items', 'gap', 'window', 'endless'].some((name) => answer.question[name]);
  $('over-stream-title').textContent = isSet ? 'As it fills' : 'As the stream goes on';
  const stream = await planner.call('overStream', given);
  if (!isLatest()) return;
  charts.stream.show(stream, {});
  performance.mark('curve');
  const memory = await planner.call('overMemory', given);
  if (isLatest()) charts.memory.show(memory, { at: offer.bytes, bounds });
  performance.mark('answered');
}

// ---- Lines to copy.

const tabs = Object.keys(snippets).map((name) => {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: name });
  button.setAttribute('role', 'tab');
  button.setAttribute('aria-controls', 'snippet');
  button.addEventListener('click', () => choose(name));
  button.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const to = tabs[(tabs.indexOf(button) + step + tabs.length) % tabs.length];
    choose(to.textContent);
    to.focus();
  });
  return button;
});
document.querySelector('.tabs').append(...tabs);

function choose(name) {
  tab = name;
  showSnippet();
}

function showSnippet() {
  for (const button of tabs) {
    const selected = button.textContent === tab;
    button.setAttribute('aria-selected', selected);
    button.tabIndex = selected ? 0 : -1;
  }
  const offer = answer.offers[chosen];
  $('snippet').setAttribute('aria-label', tab);
  $('snippet').querySelector('code').textContent = snippets[tab](offer);
}

document.querySelector('.copy').addEventListener('click', async ({ target }) => {
  const text = $('snippet').querySelector('code').textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not a secure context: as it was always done
    getSelection().selectAllChildren($('snippet').querySelector('code'));
    document.execCommand('copy');
  }
  target.textContent = 'Copied';
  setTimeout(() => (target.textContent = 'Copy'), 1500);
});

// ---- Files.

let reader;

/** The filter for a file, or a sentence that says why there is none. */
function filterFor(mode) {
  if (mode === 'count') return { filter: 'top:memory=16M', command: 'everbloom top -n 1000' };
  if (!answer) return { why: 'Ask a question that has an answer first: the filter is what it recommends.' };
  const offer = answer.offers[chosen];
  if (/unit=time/.test(offer.filter)) return { why: 'This window is in time, and a file has no clock: use the command with --time-field, or ask for a window of lines.' };
  if (/keep=important/.test(offer.filter)) return { why: 'This filter weighs importance, which whole lines do not have: use the command with --importance-field.' };
  if (offer.command.startsWith('everbloom count')) return { why: 'This filter counts: choose “Count”, or ask for one that need not count.' };
  return { filter: offer.filter, command: `everbloom dedup --filter ${shortSpec(offer)},seed=0` };
}

async function take(file) {
  const mode = document.querySelector('[name=mode]:checked').value;
  const { filter, command, why } = filterFor(mode);
  reader?.stop();
  if (why) return outcome(why, { isWrong: true });
  const mine = reader = new Helper();
  outcome('');
  $('progress').hidden = false;
  $('bar').value = 0;
  $('reading').textContent = `Reading ${file.name}, ${bytes(file.size)}`;
  try {
    const got = await mine.call('readFile', { file, mode, filter }, (share) => ($('bar').value = share));
    report(file, mode, command, got);
  } catch (error) {
    if (mine === reader) outcome(error.message === 'stopped' ? 'Stopped.' : inWords(error.message), { isWrong: true });
  }
  mine.worker.terminate();
  if (mine === reader) {
    $('progress').hidden = true;
    reader = undefined;
  }
  return undefined;
}

/** What came out: a sentence, which is read aloud; the same in a terminal; what to save. */
function outcome(sentence, { isWrong = false, command } = {}) {
  $('told').textContent = sentence;
  $('told').classList.toggle('wrong', isWrong);
  $('terminal').hidden = !command;
  $('terminal').querySelector('code').textContent = command ?? '';
  $('save').hidden = $('listed').hidden = true;
}

let saved; // the address of what can be saved

function offerToSave(blob, name, words) {
  URL.revokeObjectURL(saved);
  saved = URL.createObjectURL(blob);
  Object.assign($('save'), { href: saved, download: name, textContent: words, hidden: false });
}

function report(file, mode, command, { lines, fresh, seconds, result, top }) {
  const speed = `${whole(lines)} lines in ${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} seconds`;
  const same = `${command} ${/^[\w.-]+$/.test(file.name) ? file.name : 'FILE'}`;
  if (mode === 'dedup') {
    outcome(`${speed}: ${whole(fresh)} are new, ${whole(lines - fresh)} were dropped as repeats.`, { command: same });
    offerToSave(result, file.name.replace(/(\.[^.]*)?$/, '.unique$1'), `Save the result, ${bytes(result.size)}`);
    return;
  }
  const others = top.watermark > 0 ? `No line outside the list occurs more than ${whole(top.watermark)} times.` : 'The list has all of them.';
  outcome(`${speed}. ${others} These are the first ${Math.min(LISTED, top.keys.length)} of ${whole(top.keys.length)}.`, { command: same });
  offerToSave(new Blob([top.keys.map(({ key, count }) => `${count}\t${key}\n`).join('')], { type: 'text/tab-separated-values' }), `${file.name}.top.tsv`, 'Save the list');
  const body = $('listed').querySelector('tbody');
  body.replaceChildren();
  for (const { key, count, lower } of top.keys.slice(0, LISTED)) {
    const row = body.insertRow();
    for (const text of [whole(count), whole(lower), key]) row.insertCell().textContent = text;
  }
  $('listed').hidden = false;
}

$('pick').addEventListener('change', ({ target }) => {
  if (target.files[0]) take(target.files[0]);
  target.value = '';
});
$('cancel').addEventListener('click', () => reader?.stop());
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'])
  document.addEventListener(type, (event) => {
    event.preventDefault();
    $('drop').classList.toggle('over', type === 'dragenter' || type === 'dragover');
    if (type === 'drop' && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });

// ---- Begin.

function begin() {
  if (location.hash.length <= 1) history.replaceState(null, '', FIRST);
  const question = fromHash(location.hash);
  write(question);
  follow(question);
}
addEventListener('hashchange', begin);
document.querySelector('.skip').addEventListener('click', (event) => { // the address is the question's
  event.preventDefault();
  $('answer').focus();
});
begin();
