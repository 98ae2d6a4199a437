// Tables. A wide one scrolls in a box of its own.
'use strict';

// columns: [{name, text}], text: left-aligned. Each group: {head, rows}, head: a line across all
// columns or nothing; each row: an array of texts and elements, the first names the row.
// A cell {span, content} takes several columns.
function table(caption, columns, groups) {
  const bodies = groups.map((group) => {
    const across = {scope: 'rowgroup', colspan: columns.length};
    const head = group.head && html('th', across, html('span', {}, group.head));
    const rows = group.rows.map((row) => tableRow(columns, row));
    return html('tbody', {}, head ? html('tr', {class: 'group'}, head) : null, rows);
  });
  const heads = columns.map(
      ({name, text}) => html('th', {scope: 'col', class: text ? 'text' : null}, name));
  const head = html('thead', {}, html('tr', {}, heads));
  return html(
      'div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': caption},
      html('table', {}, html('caption', {}, caption), head, bodies));
}

function tableRow(columns, row) {
  let column = 0;
  return html('tr', {}, row.map((given, i) => {
    const cell = given?.span ? given : {span: 1, content: given};
    const text = columns[column].text || cell.span > 1;
    column += cell.span;
    const attributes = {class: text ? 'text' : null, colspan: cell.span > 1 ? cell.span : null};
    if (i === 0) return html('th', {scope: 'row', class: 'text'}, cell.content ?? none);
    return html('td', attributes, cell.content ?? none);
  }));
}

// A share of the copy bandwidth as number and bar.
function shareCell(share) {
  if (!isNumber(share)) return none;
  const width = Math.min(1, Math.max(0, share)) * 100;
  const filled = html('span', {style: `width:${width}%`});
  const bar = html('span', {class: 'share-bar', 'aria-hidden': 'true'}, filled);
  return html('span', {class: 'share'}, bar, percent(share));
}

const tag = (is, text) => (is ? html('span', {class: 'tag'}, text) : null);

const measuredColumns = [
  {name: 'variant', text: true},
  {name: 'time'},
  {name: 'least'},
  {name: 'spread'},
  {name: 'samples'},
  {name: 'GB/s'},
  {name: 'of copy'},
  {name: 'speed-up'},
  {name: 'published'},
  {name: 'local size', text: true},
  {name: 'from', text: true},
  {name: 'rung', text: true},
  {name: 'check', text: true},
];

function publishedCell(variant, size) {
  const entries = publishedAt(variant, size);
  if (entries.length === 0) return none;
  const text = (entry) => publishedRatio(entry) +
      (entry.size && !sameSize(entry.size, size) ? ` at ${extent(entry.size)}` : '');
  return html('span', {title: entries.map(publishedText).join('; ')}, entries.map(text).join(', '));
}

function measuredRow(variant, size) {
  const published = publishedCell(variant, size.size);
  if (!variant.available) {
    const reason = `not available on this device: ${reasonOf(variant)}`;
    const content = html('span', {class: 'missing'}, reason);
    return [variant.variant, {span: 7, content}, published, {span: 4, content: ''}];
  }
  const name = html(
      'span', {}, named(variant.variant), tag(variant.best, 'best'),
      tag(variant.variant === size.chosen, 'taken'));
  const wrong = variant.check === 'wrong';
  return [
    name,
    time(variant.nanoseconds),
    time(variant.least),
    percent(variant.spread),
    variant.samples,
    digits(variant.gigabytes_per_second),
    percent(variant.copy_share),
    ratio(variant.speedup),
    published,
    list(variant.local).map(extent).join(' \u00b7 ') || 'driver\u2019s',
    variant.local_from,
    variant.rung,
    wrong ? html('b', {class: 'wrong'}, 'wrong') : variant.check,
  ];
}

// What the driver's own fill takes, of a program that only writes.
const fillText = (fill) => (isNumber(fill?.nanoseconds) ?
    `; clEnqueueFillBuffer ${time(fill.nanoseconds)}, ${digits(fill.gigabytes_per_second)} GB/s` : '');

function measuredTable(program) {
  const groups = program.sizes.map((size) => {
    const rows = variantsOf(size).map((variant) => measuredRow(variant, size));
    return {head: `${extent(size.size)}, ${byteCount(size.bytes)}${fillText(size.fill)}`, rows};
  });
  return table(`${program.name}: every variant`, measuredColumns, groups);
}

const tuningColumns = [
  {name: 'variant', text: true},
  {name: 'kernel', text: true},
  {name: 'local size', text: true},
  {name: 'time'},
  {name: 'driver\u2019s default'},
  {name: 'gain'},
  {name: 'samples'},
  {name: 'spread'},
  {name: 'tried'},
];

function tuningRow(tuning, variant, kernel) {
  return [
    html('span', {}, named(variant.variant), tag(variant.variant === tuning.best, 'best')),
    kernel.kernel,
    kernel.local ? extent(kernel.local) : 'driver\u2019s',
    time(kernel.nanoseconds),
    time(kernel.default_nanoseconds),
    ratio(kernel.default_nanoseconds / kernel.nanoseconds),
    kernel.samples,
    percent(kernel.spread),
    list(kernel.points).length,
  ];
}

function tuningTable(program) {
  const groups = program.tunings.map((tuning) => {
    const rows = records(tuning.variants).flatMap((variant) =>
        records(variant.kernels).map((kernel) => tuningRow(tuning, variant, kernel)));
    return {head: extent(tuning.size), rows};
  });
  return table(`${program.name}: tuned local sizes`, tuningColumns, groups);
}

const startupColumns = [
  {name: 'device', text: true},
  {name: 'programs'},
  {name: 'source'},
  {name: 'driver'},
  {name: 'floor'},
  {name: 'kiln'},
  {name: 'to floor'},
  {name: 'overlay'},
  {name: 'to floor'},
  {name: 'above floor, each'},
  {name: 'compile at first launch'},
];

function startupRow(device) {
  const row = device.startup;
  if (row.error) return [device.name, {span: 10, content: `no figures: ${row.error}`}];
  const above = row.microseconds_above_floor_per_program;
  return [
    device.name,
    row.programs,
    milliseconds(startupTime(row, 'source')),
    milliseconds(startupTime(row, 'driver')),
    milliseconds(startupTime(row, 'floor')),
    milliseconds(startupTime(row, 'kiln')),
    ratio(row.ratio_to_floor),
    milliseconds(startupTime(row, 'overlay')),
    ratio(row.overlay_ratio_to_floor),
    isNumber(above) ? `${digits(above)} \u00b5s` : none,
    row.executes === false ? 'executes nothing' : row.compile_at_first_launch ?? none,
  ];
}

function startupTable(devices) {
  const rows = devices.filter((device) => device.startup).map(startupRow);
  return table('Start-up', startupColumns, [{rows}]);
}

const linkTo = (device, program, text) => html('a', {href: `#d${device}-p${program}`}, text);

const summaryColumns = [
  {name: 'program', text: true},
  {name: 'size', text: true},
  {name: 'best variant', text: true},
  {name: 'time'},
  {name: 'speed-up'},
  {name: 'GB/s'},
  {name: 'of copy'},
  {name: 'the runtime takes', text: true},
];

function summaryRow(program, link) {
  const size = largestSize(program);
  const best = bestOf(size);
  if (!size) return [link, {span: 7, content: 'not measured, but tuned'}];
  if (!best) return [link, extent(size.size), {span: 6, content: 'no variant has a time'}];
  const loss = chosenLoss(size);
  const more = isNumber(loss) ? `, ${percent(loss)} longer` : '';
  return [
    link,
    extent(size.size),
    best.variant,
    time(best.nanoseconds),
    ratio(best.speedup),
    digits(best.gigabytes_per_second),
    shareCell(best.copy_share),
    size.chosen === best.variant ? 'the best' : `${size.chosen ?? none}${more}`,
  ];
}

// The best variants of one device, each program at its largest size.
function summaryTable(programs, index) {
  const rows = programs.map((program, p) => summaryRow(program, linkTo(index, p, program.name)));
  return table('Best variants, each program at its largest size', summaryColumns, [{rows}]);
}

function overviewCell(device, index, name) {
  const p = device.programs.findIndex((program) => program.name === name);
  const size = p < 0 ? null : largestSize(device.programs[p]);
  const best = bestOf(size);
  if (!best) return size ? linkTo(index, p, 'no time') : none;
  const share = isNumber(best.copy_share) ? `, ${percent(best.copy_share)} of copy` : '';
  const detail = html('span', {class: 'quiet'}, `${named(best.variant)}${share}`);
  return html('span', {}, linkTo(index, p, time(best.nanoseconds)), html('br'), detail);
}

// Programs by devices: the best variant, its time, its share of the copy bandwidth.
function overviewTable(devices) {
  const names = new Set(devices.flatMap((device) => device.programs.map(({name}) => name)));
  const columns = devices.map((device) => ({name: device.name, text: true}));
  const rows = [...names].map((name) =>
      [name, ...devices.map((device, index) => overviewCell(device, index, name))]);
  const caption = 'Best variant of each program at its largest size';
  return table(caption, [{name: 'program', text: true}, ...columns], [{rows}]);
}
