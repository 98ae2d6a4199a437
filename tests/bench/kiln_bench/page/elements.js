// Elements and numbers. Text goes into the page as text, never as markup.
'use strict';

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true)
      element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(
      ...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function html(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

// A folding section.
function fold(open, summary, ...content) {
  return html('details', {open}, html('summary', {}, summary), ...content);
}

const none = '\u2013';  // what stands where there is no figure

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const list = (value) => (Array.isArray(value) ? value : []);
const records = (value) => list(value).filter((entry) => typeof (entry ?? 0) === 'object');
const named = (value) => String(value ?? none);

// Three significant digits, without an exponent.
function digits(value) {
  if (!isNumber(value)) return none;
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en');
  if (size === 0) return '0';
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

const timeUnits = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];

function timeUnit(nanoseconds) {
  return timeUnits.find(([size]) => nanoseconds >= 0.9995 * size) ?? timeUnits[3];
}

function time(nanoseconds) {
  if (!isNumber(nanoseconds)) return none;
  const [size, unit] = timeUnit(nanoseconds);
  return `${digits(nanoseconds / size)} ${unit}`;
}

const milliseconds = (value) => time(isNumber(value) && value > 0 ? 1e6 * value : null);
const ratio = (value) => (isNumber(value) ? `${digits(value)}\u00d7` : none);

function percent(share) {
  if (!isNumber(share)) return none;
  return `${(100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0)} %`;
}

function byteCount(bytes) {
  if (!isNumber(bytes)) return none;
  for (const [size, unit] of [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']]) {
    if (bytes >= size) return `${digits(bytes / size)} ${unit}`;
  }
  return `${bytes} B`;
}

// [768, 432, 1] as "768 x 432": dimensions of 1 at the end are left out.
function extent(size) {
  const terms = list(size).slice();
  while (terms.length > 1 && terms[terms.length - 1] === 1) terms.pop();
  if (terms.length === 0) return none;
  return terms.map((term) => (isNumber(term) ? term.toLocaleString('en') : term)).join(' \u00d7 ');
}

const itemCount = (size) => list(size).reduce((product, term) => product * term, 1);
const sameSize = (a, b) => extent(a) === extent(b);
const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;
