// Puts the page together. One device is shown at a time, or all: the address says which
// (#d0, #d0-p2 for its third program, #all).
'use strict';

const devices = gatherDevices();
for (const device of devices) device.programs = programsOf(device);

// What measures a part that is not there.
const unmeasured = (command, what) => html(
    'p', {class: 'missing'}, 'Not measured: ', html('code', {}, command), ` measures ${what}.`);

const startupText = `Time until every program has its first result, with empty driver caches:
  from source; from the driver\u2019s own binaries; from the pack\u2019s binaries given straight to the
  driver (floor, the dashed line); through Kiln; and the second start of a pack without a binary
  (overlay). On a device that executes nothing: until every kernel exists. Log scale, the same for all
  devices.`;

function startupFigure(device, range) {
  const error = device.startup.error;
  return html(
      'figure', {}, html('figcaption', {}, html('b', {}, device.name)),
      error ? html('p', {class: 'missing'}, `No figures: ${error}`) : startupPlot(device, range));
}

function startupSection() {
  const section = html('section', {id: 'startup'}, html('h2', {}, 'Start-up'));
  const measured = devices.filter((device) => device.startup);
  if (measured.length === 0) {
    section.append(unmeasured('kiln bench startup --pack PACK --json', 'it'));
    return section;
  }
  const range = startupRange(measured);
  const rounds = documents.startup.rounds;
  const medians = rounds ? ` Medians of ${rounds} fresh processes each.` : '';
  const figures = measured.map((device) => startupFigure(device, range));
  const few = measured.length <= 6;  // with more, plots alone would fill the first screens
  section.append(
      html('p', {class: 'quiet'}, startupText, medians),
      fold(few, 'Plots', html('div', {class: 'grid'}, figures)),
      fold(!few, 'Table', startupTable(devices)));
  return section;
}

function sizeFigure(device, program, size) {
  const speedup = program.baseline ? speedupPlot(program, size) : null;
  const throughput = throughputPlot(program, size, device.kernels?.copy_bandwidth);
  return html(
      'figure', {class: 'size'},
      html('figcaption', {}, html('b', {}, extent(size.size)), ` ${byteCount(size.bytes)}`),
      program.baseline ? html('p', {class: 'measure'}, `Speed-up over ${program.baseline}`) : null,
      speedup ?? (program.baseline ?
          html('p', {class: 'missing'}, 'The baseline has no time here.') : null),
      html('p', {class: 'measure'}, 'GB/s by bytes in and out'),
      throughput ?? html('p', {class: 'missing'}, 'Nothing was measured.'));
}

function unavailableList(program) {
  const missing = unavailable(program);
  if (missing.length === 0) return null;
  const items = missing.map(([variant, reason]) =>
      html('li', {}, html('b', {}, variant), `: ${reason}`));
  const intro = html('p', {}, 'Not available on this device:');
  return html('div', {class: 'unavailable'}, intro, html('ul', {}, items));
}

function measuredParts(device, program) {
  if (program.sizes.length === 0) return null;
  const rows = program.sizes.reduce((count, size) => count + variantsOf(size).length, 0);
  const sources = publishedSources(program);
  const figures = program.sizes.map((size) => sizeFigure(device, program, size));
  return [
    html('div', {class: 'grid'}, figures),
    sources ? html('p', {class: 'quiet'}, sources) : null,
    unavailableList(program),
    fold(false, `All figures, ${plural(rows, 'row')}`, measuredTable(program)),
  ];
}

function tunedParts(program) {
  if (program.tunings.length === 0) return null;
  const table = fold(false, 'Tuned local sizes as a table', tuningTable(program));
  return [program.tunings.map(tuningMaps), heatKey(), table];
}

function programSection(device, program, id) {
  const name = html('h3', {}, program.name);
  const section = fold(true, name, measuredParts(device, program), tunedParts(program));
  section.id = id;
  section.className = 'program';
  return section;
}

const clocks = {
  device: 'the device\u2019s clock',
  wall: 'the host\u2019s clock, launch included',
};

function deviceFacts(device) {
  const of = device.kernels ?? {};
  const copy = isNumber(of.copy_bandwidth) ? `${digits(of.copy_bandwidth)} GB/s` : null;
  const facts = [
    ['driver', of.driver_version],
    ['profile', of.profile],
    ['times by', clocks[of.timer]],
    ['copy bandwidth, read and written', copy],
  ];
  const fact = ([name, value]) =>
      html('span', {}, html('span', {class: 'quiet'}, `${name} `), value);
  return html('p', {class: 'facts'}, facts.filter(([, value]) => value).map(fact));
}

function deviceKey() {
  return html(
      'p', {class: 'key'}, html('span', {class: 'swatch bar-key strong'}, 'best'),
      html('span', {class: 'swatch bar-key'}, 'other variants'),
      html('span', {class: 'swatch diamond-key'}, 'published ratio'),
      html('span', {class: 'swatch diamond-key other'}, 'published for another size only'),
      html('span', {class: 'swatch'}, '\u25b8 what the runtime takes'));
}

function deviceSection(device, index) {
  const section = html(
      'section', {id: `d${index}`, class: 'device'}, html('h2', {}, device.name),
      deviceFacts(device));
  const error = device.kernels?.error;
  if (error) {
    section.append(html('p', {class: 'notice'}, `No figures: ${error}`));
  } else if (!device.kernels) {
    section.append(unmeasured('kiln-bench kernels --json', 'its variants'));
  }
  if (!device.tuning && !error) {
    section.append(unmeasured('kiln tune --json', 'its local sizes'));
  }
  if (device.programs.length > 0) {
    section.append(
        summaryTable(device.programs, index), deviceKey(),
        ...device.programs.map((program, p) => programSection(device, program, `d${index}-p${p}`)));
  }
  return section;
}

// Sections are made when they are first shown.
const shown = html('div', {id: 'devices'});
const made = new Map();

function show(indices) {
  shown.replaceChildren(...indices.map((index) => {
    if (!made.has(index)) made.set(index, deviceSection(devices[index], index));
    return made.get(index);
  }));
}

const everything = () => devices.map((_, index) => index);

function chooser() {
  if (devices.length < 2) return null;
  const select = html(
      'select', {id: 'choice'}, html('option', {value: 'all'}, `all ${devices.length} devices`),
      devices.map((device, index) => html('option', {value: `d${index}`}, device.name)));
  select.addEventListener('change', () => {
    location.hash = select.value;
  });
  return html('nav', {}, html('label', {'for': 'choice'}, 'Device '), select);
}

function follow() {
  const match = /^#d(\d+)(-p\d+)?$/.exec(location.hash);
  const select = document.getElementById('choice');
  if (match && Number(match[1]) < devices.length) {
    const program = match[2] !== undefined;
    if (!(program && select?.value === 'all')) {
      show([Number(match[1])]);
      if (select) select.value = `d${match[1]}`;
    }
    const target = document.getElementById(location.hash.slice(1));
    if (target?.tagName === 'DETAILS') target.open = true;
    target?.scrollIntoView();
  } else {
    const all = location.hash === '#all' || devices.length <= 3;
    show(all ? everything() : [0]);
    if (select) select.value = all ? 'all' : 'd0';
  }
}

function start() {
  const main = document.getElementById('main');
  const parts = ['kernels', 'tuning'].map((part) => documents[part]?.conditions).filter(Boolean);
  document.getElementById('conditions').textContent = parts.join(' ');
  if (devices.length > 1) {
    main.append(
        html('section', {id: 'overview'}, html('h2', {}, 'Overview'), overviewTable(devices)));
  }
  main.append(startupSection(), chooser() ?? '', shown);
  if (devices.length === 0) main.append(html('p', {class: 'notice'}, 'No device was measured.'));
  window.addEventListener('hashchange', follow);
  follow();
}

start();
