// Small helpers for building nodes. Text always goes through text nodes, never through markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Change attributes of a node that is already there; null takes one away. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) node.removeAttribute(name);
    else node.setAttribute(name, value);
  }
  return node;
}

/** Write text only when it differs, so that a live region does not speak twice. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

let count = 0;

/** A prefix for ids that no other explorer on the page has. */
export function uniquePrefix() {
  count += 1;
  return `rc${count}`;
}
