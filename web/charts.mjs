// charts.mjs - rates over something, on two logarithmic scales, with uPlot; the same numbers as a table.
import { bytes, inLines, rate } from './words.mjs';

const LEAST = 1e-12; // rates below are not drawn
const SUPER = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function power(value) {
  const digits = [...String(Math.abs(Math.round(Math.log10(value))))].map((digit) => SUPER[digit]);
  return `10${value < 1 ? '⁻' : ''}${digits.join('')}`;
}

function tick(value) {
  return value >= 1e-4 ? `${Number((100 * value).toPrecision(1))} %` : power(value);
}

/** Powers of the base between the ends, at most about `most` of them. */
function powers(low, high, base, most) {
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9), last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const all = [];
  for (let e = Math.ceil(first / step) * step; e <= last; e += step) all.push(base ** e);
  return all;
}

function drawable(values) {
  return values.map((y) => (Number.isFinite(y) && y >= LEAST ? y : null));
}

/** Where something is: a line down at x, lines across at bounds. */
function marks(chart, { at, bounds }) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  const line = (stroke, x0, y0, x1, y1) => {
    ctx.strokeStyle = stroke;
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  };
  if (at) {
    const x = chart.valToPos(at, 'x', true);
    line(color('soft'), x, bbox.top, x, bbox.top + bbox.height);
  }
  for (const [name, value] of bounds) {
    const y = chart.valToPos(value, 'y', true);
    if (value > 0 && y >= bbox.top && y <= bbox.top + bbox.height) line(color(name), bbox.left, y, bbox.left + bbox.width, y);
  }
  ctx.restore();
}

/** Without a pointer the legend tells of the place where the filter is, or of the end. */
function rest(u, { x, at }) {
  if (u.cursor.idx !== null && u.cursor.idx !== undefined) return;
  const nearest = at ? x.reduce((best, value, i) => (Math.abs(Math.log(value / at)) < Math.abs(Math.log(x[best] / at)) ? i : best), 0) : x.length - 1;
  u.setLegend({ idx: nearest });
}

function options(chart) {
  const axis = { stroke: color('soft'), grid: { stroke: color('line'), width: 1 }, ticks: { stroke: color('line'), width: 1 }, font: '12px system-ui, sans-serif' };
  const { root, x, isBytes, xName } = chart;
  const write = isBytes ? bytes : inLines;
  const seen = [...chart.fpr, ...chart.fnr].filter((y) => y !== null);
  const low = Math.max(LEAST, Math.min(0.1, ...seen) / 1.5), high = Math.min(1, 1.5 * Math.max(1e-9, ...seen));
  return {
    width: root.clientWidth, height: 280,
    scales: { x: { time: false, distr: 3, log: isBytes ? 2 : 10 }, y: { distr: 3, range: [low, high >= 0.5 ? 1 : high] } },
    axes: [
      { ...axis, label: xName, size: 30, labelSize: 20, labelGap: 0, labelFont: '12px system-ui, sans-serif', values: (_, all) => all.map((v) => (isBytes ? bytes(v).replace('.0', '') : v < 1e4 ? v : power(v))),
        splits: () => powers(x[0], x.at(-1), isBytes ? 2 : 10, Math.max(2, root.clientWidth / 72)), filter: (_, splits) => splits },
      { ...axis, size: 64, values: (_, all) => all.map(tick), splits: () => powers(low, high >= 0.5 ? 1 : high, 10, 8), filter: (_, splits) => splits },
    ],
    series: [
      { label: isBytes ? 'memory' : 'lines', value: (_, v) => (v === null ? '' : write(v)) },
      { label: 'new lines taken for repeats', stroke: color('fpr'), width: 2.25, spanGaps: true, points: { show: false }, value: (_, v, __, i) => (i === null ? '' : rate(v ?? 0)) },
      { label: 'repeats missed', stroke: color('fnr'), width: 2.25, spanGaps: true, points: { show: false }, value: (_, v, __, i) => (i === null ? '' : rate(v ?? 0)) },
    ],
    legend: { markers: { width: 0, fill: (_, i) => color(['soft', 'fpr', 'fnr'][i]) } },
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { draw: [(u) => marks(u, chart)], ready: [(u) => rest(u, chart)], setCursor: [(u) => rest(u, chart)] },
  };
}

function table(chart, curve) {
  const at = Array.from({ length: 9 }, (_, i) => Math.round((i * (curve.x.length - 1)) / 8));
  const rows = at.map((i) => `<tr><th scope="row">${chart.isBytes ? bytes(curve.x[i]) : inLines(curve.x[i])}</th><td>${rate(curve.fpr[i])}</td><td>${rate(curve.fnr[i])}</td></tr>`);
  chart.table.innerHTML = `<table><thead><tr><th scope="col">${chart.xName}</th><th scope="col">new lines taken for repeats</th><th scope="col">repeats missed</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

export class Chart {
  constructor(root, xName, isBytes) {
    Object.assign(this, { root, xName, isBytes, bounds: [], table: root.parentElement.querySelector('.table .scroll') });
    root.setAttribute('role', 'img');
    new ResizeObserver(() => this.resize()).observe(root);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  /** A curve: x, fpr, fnr.  `at` is where the filter is, `bounds` what was asked for. */
  show(curve, { at, bounds = [] } = {}) {
    Object.assign(this, { x: curve.x, fpr: drawable(curve.fpr), fnr: drawable(curve.fnr), at, bounds });
    const end = curve.x.length - 1;
    this.root.setAttribute('aria-label', `${this.xName} from ${this.isBytes ? bytes(curve.x[0]) : inLines(curve.x[0])} to ${this.isBytes ? bytes(curve.x[end]) : inLines(curve.x[end])}: new lines taken for repeats go from ${rate(curve.fpr[0])} to ${rate(curve.fpr[end])}, repeats missed from ${rate(curve.fnr[0])} to ${rate(curve.fnr[end])}.`);
    table(this, curve);
    this.draw();
  }

  draw() {
    if (!this.x || this.root.clientWidth === 0) return;
    this.plot?.destroy();
    this.plot = new uPlot(options(this), [this.x, this.fpr, this.fnr], this.root);
  }

  resize() {
    if (this.plot && Math.abs(this.plot.width - this.root.clientWidth) > 1) this.draw();
  }
}
