// Heat maps of the tuning: local x by local y, in steps of how much slower than the best.
'use strict';

const heatSteps = [1.02, 1.1, 1.25, 1.5, 2, 4, Infinity];  // times the best; one colour each
const heatLegend = ['\u2264 2 % more', '10 %', '25 %', '50 %', '2\u00d7', '4\u00d7', 'slower'];
const cell = {width: 46, height: 24, left: 40, top: 34};

const heatStep = (time, best) => heatSteps.findIndex((step) => time <= best * step);
const isDefault = (point) => list(point.local).every((term) => !term);
const byNumber = (a, b) => a - b;
const distinct = (values) => [...new Set(values)].sort(byNumber);

// A kernel's points with a local size, and what the driver's default took.
function heatData(kernel) {
  const points = records(kernel.points).filter((point) => isNumber(point.nanoseconds));
  const tried = points.filter((point) => !isDefault(point)).map((point) => {
    const [x, y = 1, z = 1] = point.local;
    return {x, y, z, nanoseconds: point.nanoseconds};
  });
  const fallback = kernel.default_nanoseconds ?? points.find(isDefault)?.nanoseconds;
  const times = tried.map((point) => point.nanoseconds);
  if (isNumber(fallback)) times.push(fallback);
  return {tried, fallback, best: Math.min(...times)};
}

function cellEdge(x, y, inset, attributes) {
  const [width, height] = [cell.width - 2 * inset, cell.height - 2 * inset];
  return svg('rect', {x: x + inset, y: y + inset, width, height, rx: 2, ...attributes});
}

// `kind`: "best" and "default" have an edge of their own, null has none.
function heatCell(x, y, text, step, title, kind) {
  const attributes = {class: `heat${step}`, role: 'img', 'aria-label': title};
  const middle = {'text-anchor': 'middle', class: kind === 'best' ? 'strong' : ''};
  return svg(
      'g', attributes, svg('title', {}, title), cellEdge(x, y, 1, {'data-mark': 'time'}),
      kind ? cellEdge(x, y, 1.5, {class: `edge ${kind}`, 'data-mark': kind}) : null,
      svgText(x + cell.width / 2, y + 16, text, middle));
}

const columnAt = (i) => cell.left + cell.width * i;
const rowAt = (i) => cell.top + cell.height * i;

function heatAxes(xs, ys, unitName) {
  const quiet = (x, y, text, anchor) =>
      svgText(x, y, text, {'text-anchor': anchor, class: 'quiet'});
  return [
    quiet(cell.left, 12, `local x \u2192, ${unitName}`, 'start'),
    quiet(0, 28, 'y \u2193', 'start'),
    xs.map((x, i) => quiet(columnAt(i + 0.5), 28, x, 'middle')),
    ys.map((y, i) => quiet(cell.left - 6, rowAt(i) + 16, y, 'end')),
  ];
}

// One map: the points of one local z. The driver's default has no place in the grid: it has a
// cell of its own below.
function heatMap(kernel, data, z, label) {
  const points = data.tried.filter((point) => point.z === z);
  const [xs, ys] = [distinct(points.map((p) => p.x)), distinct(points.map((p) => p.y))];
  const [unit, unitName] = timeUnit(data.best);
  const draw = (x, y, nanoseconds, title, kind) => heatCell(
      x, y, digits(nanoseconds / unit), heatStep(nanoseconds, data.best),
      `${title}: ${time(nanoseconds)}, ${ratio(nanoseconds / data.best)} the least`, kind);
  const cells = points.map((point) => {
    const local = [point.x, point.y, point.z];
    const best = kernel.local && sameSize(local, kernel.local);
    const [x, y] = [columnAt(xs.indexOf(point.x)), rowAt(ys.indexOf(point.y))];
    return draw(x, y, point.nanoseconds, extent(local), best ? 'best' : null);
  });
  const bottom = rowAt(ys.length) + 10;
  if (isNumber(data.fallback)) {
    cells.push(
        draw(cell.left, bottom, data.fallback, 'the driver\u2019s default', 'default'),
        svgText(columnAt(1) + 6, bottom + 16, 'driver\u2019s default', {class: 'quiet'}));
  }
  const width = Math.max(columnAt(xs.length), columnAt(1) + 96) + 2;
  const height = bottom + cell.height + 2;
  const size = {width, height, viewBox: `0 0 ${width} ${height}`};
  const about = {class: 'heat', role: 'group', 'aria-label': label, 'data-plot': 'heat'};
  return html(
      'div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': label},
      svg('svg', {...size, ...about}, svg('title', {}, label), heatAxes(xs, ys, unitName), cells));
}

// All maps of a kernel, one for each local z.
function heatFigures(tuning, variant, kernel) {
  const data = heatData(kernel);
  const layers = distinct(data.tried.map((point) => point.z));
  const [variantName, kernelName] = [named(variant.variant), named(kernel.kernel)];
  const name = `${named(tuning.program)}/${variantName}, ${kernelName}, ${extent(tuning.size)}`;
  const gain = data.fallback / kernel.nanoseconds;
  const kept = kernel.local ? `best ${extent(kernel.local)}, ${time(kernel.nanoseconds)}`
                            : `the driver\u2019s default is kept, ${time(data.fallback)}`;
  const over = isNumber(gain) ? `, ${ratio(gain)} over the driver\u2019s default` : '';
  return layers.map((z) => {
    const layer = layers.length > 1 ? `, local z ${z}` : '';
    const caption = html(
        'figcaption', {}, html('b', {}, variantName), ` ${kernelName}${layer}`,
        html('br'), html('span', {class: 'quiet'}, kept, kernel.local ? over : ''));
    const map = heatMap(kernel, data, z, `${name}${layer}: time by local size`);
    return html('figure', {}, caption, map);
  });
}

// The maps of a program at one size: the best variant's in sight, the others folded.
function tuningMaps(tuning) {
  const maps = (variants) => html('div', {class: 'maps'}, variants.map((variant) =>
      records(variant.kernels).map((kernel) => heatFigures(tuning, variant, kernel))));
  const variants = records(tuning.variants);
  const first = variants.filter((variant) => variant.variant === tuning.best);
  const others = variants.filter((variant) => variant.variant !== tuning.best);
  const size = `${extent(tuning.size)}${tuning.size_class ? ` (${tuning.size_class})` : ''}`;
  const title = html('h4', {}, `${size}, best variant ${tuning.best ?? none}`);
  const rest = fold(false, plural(others.length, 'other variant'), maps(others));
  return html('div', {class: 'tuned'}, title, maps(first), others.length > 0 ? rest : null);
}

function heatKey() {
  const swatches = heatLegend.map((text, i) => html('span', {class: `swatch heat${i}`}, text));
  const edges = ' Solid edge: the best. Dashed edge: the driver\u2019s own choice.';
  return html('p', {class: 'key'}, 'Time over the least: ', swatches, edges);
}
