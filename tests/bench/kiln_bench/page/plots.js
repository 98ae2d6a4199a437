// Plots of bars and dots. Each mark that stands for a figure has data-mark with its kind and a
// title with its value; every value is in a table too.
'use strict';

const plotWidth = 340;
const rowHeight = 20;

// Few round steps from 0 to at least `largest`.
function linearTicks(largest) {
  const power = 10 ** Math.floor(Math.log10(largest / 3));
  const step = power * ([1, 2, 5, 10].find((factor) => largest / (factor * power) <= 5) ?? 10);
  return Array.from({length: Math.floor(largest / step + 1e-9) + 1}, (_, i) => i * step);
}

function decades(smallest, largest) {
  const first = Math.floor(Math.log10(smallest));
  const last = Math.max(first + 1, Math.ceil(Math.log10(largest)));
  return Array.from({length: last - first + 1}, (_, i) => 10 ** (first + i));
}

const shorten = (name, length) =>
    (name.length > length ? `${name.slice(0, length - 1)}\u2026` : name);

function svgText(x, y, text, attributes = {}) { return svg('text', {x, y, ...attributes}, text); }

function plot(kind, label, height, ...children) {
  const viewBox = `0 0 ${plotWidth} ${height}`;
  const attributes = {viewBox, class: 'plot', role: 'img', 'aria-label': label, 'data-plot': kind};
  return svg('svg', attributes, svg('title', {}, label), children);
}

// Vertical lines with their values below; of many, every second one's.
function axis(ticks, scale, top, bottom, format) {
  return ticks.map((tick, i) => {
    const x = scale(tick);
    const named = ticks.length <= 6 || i % 2 === 0;
    const name = svgText(x, bottom + 13, format(tick), {'text-anchor': 'middle'});
    const line = svg('line', {x1: x, x2: x, y1: top, y2: bottom});
    return svg('g', {class: 'tick'}, line, named ? name : null);
  });
}

// A tick's value without the zeros that a measured one has.
const plain = (text) => text.replace(/\.0+(?=\D|$)/, '').replace(/(\.\d*[1-9])0+(?=\D|$)/, '$1');

function diamond(x, y, entry, exact) {
  const d = `M${x} ${y - 5.5}l5 5.5l-5 5.5l-5 -5.5z`;
  const look = exact ? 'published' : 'published other-size';
  const title = svg('title', {}, publishedText(entry));
  return svg('path', {d, 'data-mark': 'published', class: look}, title);
}

// Rows of {name, value, text, title, kind, strong, taken, marks}; kind: "", "wrong" or "missing".
// `line`: {value, text} of a line across all rows. `unit`: a value that has a thin line.
function barPlot({kind, label, rows, line, unit, format, marksTo}) {
  const left = Math.min(150, 18 + 6.3 * Math.max(...rows.map(({name}) => name.length)));
  const right = plotWidth - 54;
  const top = line ? 18 : 4;
  const bottom = top + rowHeight * rows.length + 2;
  const reached = [line?.value ?? 0, unit ?? 0, marksTo ?? 0];
  const largest = Math.max(...rows.map((row) => row.value ?? 0), ...reached) || 1;
  const scale = (value) => left + ((right - left) * value) / largest;
  const bars = rows.map((row, i) => barRow(row, top + rowHeight * (i + 0.5), left, scale));
  const upright = (value, y1, attributes) =>
      svg('line', {x1: scale(value), x2: scale(value), y1, y2: bottom, ...attributes});
  const thin = unit && upright(unit, top, {class: 'unit'});
  const across = line && [
    upright(line.value, top - 4, {class: 'across', 'data-mark': 'copy'}),
    svgText(
        Math.min(scale(line.value) + 4, plotWidth), top - 7, line.text,
        {'text-anchor': 'end', class: 'across-text'}),
  ];
  const ticks = axis(linearTicks(largest), scale, top, bottom, format);
  return plot(kind, label, bottom + 17, ticks, bars, thin, across);
}

function barRow(row, y, left, scale) {
  const look = `${row.strong ? 'strong' : ''} ${row.kind}`;
  const end = (kind) => ({'text-anchor': 'end', class: `${kind} ${look}`});
  const parts = [
    svgText(left - 13, y + 4, shorten(row.name, 21), end('name')),
    row.taken ? svg('path', {d: `M${left - 9} ${y - 3.5}l6 3.5l-6 3.5z`, class: 'taken'}) : null,
    svgText(plotWidth, y + 4, row.text, end('value')),
  ];
  if (isNumber(row.value)) {
    const place = {x: left, y: y - 6, width: Math.max(1, scale(row.value) - left), height: 12};
    parts.push(svg('rect', {...place, class: `bar ${look}`, 'data-mark': 'measured'}));
  }
  for (const {entry, exact} of list(row.marks)) {
    parts.push(diamond(scale(entry.ratio), y, entry, exact));
  }
  return svg('g', {class: row.kind}, svg('title', {}, row.title), parts);
}

function rowKind(variant) {
  if (!variant.available) return 'missing';
  return variant.check === 'wrong' ? 'wrong' : '';
}

function rowTitle(variant, kind) {
  if (kind === 'missing') return `not available on this device: ${reasonOf(variant)}`;
  const figures = [time(variant.nanoseconds), ratio(variant.speedup)];
  figures.push(`${digits(variant.gigabytes_per_second)} GB/s`);
  return `${kind === 'wrong' ? 'wrong result, ' : ''}${figures.join(', ')}`;
}

// `value` and `text` give a variant's figure as the bar's length and as words.
function variantRows(size, value, text) {
  return variantsOf(size).map((variant) => {
    const kind = rowKind(variant);
    return {
      name: named(variant.variant),
      kind,
      value: kind === '' ? value(variant) : null,
      text: {'': text(variant), wrong: 'wrong', missing: 'n/a'}[kind],
      title: `${named(variant.variant)}: ${rowTitle(variant, kind)}`,
      strong: kind === '' && Boolean(variant.best),
      taken: variant.variant === size.chosen,
      variant,
    };
  });
}

// How much faster than the baseline each variant is; null where nothing can be drawn.
function speedupPlot(program, size) {
  const rows =
      variantRows(size, (v) => (isNumber(v.speedup) ? v.speedup : null), (v) => ratio(v.speedup));
  for (const row of rows) {
    row.marks =
        publishedAt(row.variant, size.size)
            .map((entry) => ({entry, exact: !entry.size || sameSize(entry.size, size.size)}));
  }
  const marks = rows.flatMap((row) => row.marks.map((mark) => mark.entry.ratio));
  if (marks.length === 0 && !rows.some((row) => isNumber(row.value))) return null;
  return barPlot({
    kind: 'speedup',
    rows,
    unit: 1,
    format: (value) => plain(ratio(value)),
    marksTo: Math.max(0, ...marks),
    label: `${program.name}, ${extent(size.size)}: speed-up over ${program.baseline}`,
  });
}

// Bytes moved a second by what runs here, beside the device's copy; null where nothing does.
function throughputPlot(program, size, copyBandwidth) {
  const rate = (v) => (isNumber(v.gigabytes_per_second) ? v.gigabytes_per_second : null);
  const rows = variantRows(size, rate, (v) => digits(v.gigabytes_per_second))
                   .filter((row) => row.kind !== 'missing');
  if (!rows.some((row) => isNumber(row.value))) return null;
  return barPlot({
    kind: 'throughput',
    rows,
    format: (value) => value.toLocaleString('en'),
    line: isNumber(copyBandwidth) ?
        {value: copyBandwidth, text: `copy ${digits(copyBandwidth)} GB/s`} :
        null,
    label: `${program.name}, ${extent(size.size)}: GB/s`,
  });
}

const startupKinds = [
  ['source', 'the driver compiles the source'],
  ['driver', 'the driver is given its own binaries, taken before any launch'],
  ['floor', 'the driver is given the pack\u2019s binaries from memory'],
  ['kiln', 'everything from the pack, through Kiln'],
  ['overlay', 'the second start of a pack without a binary'],
];

// Milliseconds to the first results, or on a device that executes nothing to the kernels.
function startupTime(row, kind) {
  const time = row?.[kind];
  return row?.executes === false ? time?.kernels_ms : time?.results_ms;
}

// What a start costs; `range`: the decades of milliseconds that all devices share.
function startupPlot(device, range) {
  const [left, right, top] = [62, plotWidth - 66, 4];
  const [first, last] = [range[0], range[range.length - 1]].map(Math.log10);
  const scale = (ms) => left + ((right - left) * (Math.log10(ms) - first)) / (last - first);
  const bottom = top + rowHeight * startupKinds.length + 2;
  const floor = startupTime(device.startup, 'floor');
  const rows = startupKinds.map(([name, meaning], i) => {
    const ms = startupTime(device.startup, name);
    const y = top + rowHeight * (i + 0.5);
    const strong = name === 'kiln' ? 'strong' : '';
    const end = {'text-anchor': 'end'};
    const row =
        svg('g', {}, svgText(left - 8, y + 4, name, {...end, class: `name ${strong}`}),
            svgText(plotWidth, y + 4, milliseconds(ms), {...end, class: `value ${strong}`}));
    if (!(ms > 0)) return row;
    const dot = {cx: scale(ms), cy: y, r: 5, class: `dot ${strong}`, 'data-mark': name};
    const title = svg('title', {}, `${name}: ${milliseconds(ms)}: ${meaning}`);
    row.append(
        svg('line', {x1: left, x2: dot.cx, y1: y, y2: y, class: 'stem'}),
        svg('circle', dot, title));
    return row;
  });
  const line = floor > 0 ?
      svg('line', {x1: scale(floor), x2: scale(floor), y1: top, y2: bottom, class: 'across'}) :
      null;
  const ticks = axis(range, scale, top, bottom, (ms) => plain(milliseconds(ms)));
  return plot('startup', `Start-up of ${device.name}, log scale`, bottom + 17, ticks, line, rows);
}

function startupRange(devices) {
  const values = devices.flatMap((device) => startupKinds.map(
                                     ([name]) => startupTime(device.startup, name)))
                     .filter((value) => value > 0);
  return values.length > 0 ? decades(Math.min(...values), Math.max(...values)) : decades(1, 10);
}
