// What the documents say about a device, a program, a size.
'use strict';

const documents = JSON.parse(document.getElementById('data').textContent);

// The devices of all documents: {name, kernels, tuning, startup}, each as the document has it.
// Devices of one name are told apart by their order.
function gatherDevices() {
  const devices = [];
  for (const part of ['kernels', 'tuning', 'startup']) {
    const seen = new Map();
    for (const entry of records(documents[part]?.devices)) {
      const label = named(entry.device);
      const copy = seen.get(label) ?? 0;
      seen.set(label, copy + 1);
      let device = devices.find((d) => d.label === label && d.copy === copy);
      if (!device) devices.push(device = {label, copy});
      device[part] = entry;
    }
  }
  for (const device of devices) {
    const twins = devices.filter((d) => d.label === device.label).length;
    device.name = twins > 1 ? `${device.label} (${device.copy + 1} of ${twins})` : device.label;
  }
  return devices;
}

// The programs of a device: {name, baseline, sizes, tunings}, in the order of the documents.
function programsOf(device) {
  const programs = [];
  for (const {program, baseline, sizes} of records(device.kernels?.programs)) {
    const name = named(program);
    programs.push({name, baseline: named(baseline), sizes: records(sizes), tunings: []});
  }
  for (const tuning of records(device.tuning?.programs)) {
    const name = named(tuning.program);
    let program = programs.find((p) => p.name === name);
    if (!program) programs.push(program = {name, sizes: [], tunings: []});
    program.tunings.push(tuning);
  }
  return programs;
}

function largestSize(program) {
  return program.sizes.reduce(
      (best, size) => (best && itemCount(best.size) >= itemCount(size.size) ? best : size), null);
}

const variantsOf = (size) => records(size?.variants);
const bestOf = (size) => variantsOf(size).find((variant) => variant.best && variant.available);
const chosenOf = (size) =>
    variantsOf(size).find((variant) => variant.variant === size.chosen && variant.available);

// How much longer than the best variant the one takes that the runtime picks; null: unknown.
function chosenLoss(size) {
  const [best, chosen] = [bestOf(size)?.nanoseconds, chosenOf(size)?.nanoseconds];
  return best > 0 && chosen > 0 ? chosen / best - 1 : null;
}

// The published ratios to draw at a size: those of this size, or all if there is none.
// A ratio without a size is of every size.
function publishedAt(variant, size) {
  const all = records(variant.published).filter((entry) => isNumber(entry.ratio));
  const here = all.filter((entry) => !entry.size || sameSize(entry.size, size));
  return here.length > 0 ? here : all;
}

// As it was printed: with no digits of our own.
const publishedRatio = (entry) => `${entry.ratio}\u00d7`;

function publishedText(entry) {
  const size = entry.size ? ` at ${extent(entry.size)}` : '';
  const against = entry.against ? ` against ${entry.against}` : '';
  const device = entry.device ?? 'another device';
  return `published ${publishedRatio(entry)}${against} on ${device}${size}`;
}

// One sentence on whose ratios a program's are; null where there are none.
function publishedSources(program) {
  const sources = new Set();
  for (const size of program.sizes) {
    for (const entry of variantsOf(size).flatMap((variant) => publishedAt(variant, size.size))) {
      const strange = entry.against && entry.against !== program.baseline;
      const against = `${entry.against ?? none}${strange ? ', not the baseline here' : ''}`;
      sources.add(`${entry.device ?? 'another device'}, against ${against}`);
    }
  }
  return sources.size > 0 ? `Published on ${[...sources].join('; on ')}.` : null;
}

const reasonOf = (variant) => variant.reason ?? 'no reason given';

// [[variant, reason]] of what a device cannot run, each once.
function unavailable(program) {
  const reasons = new Map();
  for (const variant of program.sizes.flatMap(variantsOf)) {
    const pair = [named(variant.variant), reasonOf(variant)];
    if (!variant.available) reasons.set(pair.join('\n'), pair);
  }
  return [...reasons.values()];
}
