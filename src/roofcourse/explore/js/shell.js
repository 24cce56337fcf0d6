// What every explorer has around its chart: controls, readout tiles, the sentence, a note, a link.

import { html, set, uniquePrefix, write } from "./dom.js";

/** Lay out an empty explorer in `root`. Kinds append to `controls`, `stage`, `tiles` and `foot`. */
export function createShell(root, label) {
  const prefix = uniquePrefix();
  const parts = {
    prefix,
    root,
    controls: html("div", { class: "rc-controls", role: "group", "aria-label": `Controls: ${label}` }),
    stage: html("div", { class: "rc-stage" }),
    sentence: html("p", { class: "rc-sentence", "data-rc-sentence": true }),
    tiles: html("dl", { class: "rc-tiles" }),
    note: html("p", { class: "rc-note", role: "status", hidden: true }),
    foot: html("div", { class: "rc-foot" }),
  };
  root.classList.add("rc-live");
  root.replaceChildren(parts.controls, parts.note, parts.stage, parts.sentence, parts.tiles, parts.foot);
  return parts;
}

/** A control under its label. JupyterLab takes arrow keys in command mode; it looks for the mark on the focused element itself. */
export function labelled(shell, name, label, control, extraClass = "") {
  const id = `${shell.prefix}-${name}`;
  set(control, { id, "data-rc-control": name, "data-lm-suppress-shortcuts": "true" });
  return html("div", { class: `rc-control ${extraClass}`.trim() }, html("label", { for: id }, label), control);
}

/** A select of [value, text]; `onChange(index)`. */
export function createSelect(options, onChange) {
  const select = html("select", {}, ...options.map(([value, text]) => html("option", { value }, text)));
  select.addEventListener("change", () => onChange(select.selectedIndex));
  return select;
}

/**
 * A slider over positions from 0 to `last`. Arrow keys go to the next whole position (PageUp and PageDown `page` of them),
 * Home and End to the ends, from wherever the thumb is: the value may lie between two positions. Within `tolerance` of a
 * whole position it counts as on it.
 */
export function createSlider({ last, page, onMove, tolerance = 1e-9 }) {
  const slider = html("input", { type: "range", min: 0, max: last, step: "any" });
  const go = (position) => {
    const whole = Math.min(Math.max(position, 0), last);
    slider.value = whole;
    onMove(whole);
  };
  slider.addEventListener("input", () => go(Math.round(Number(slider.value))));
  slider.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const now = Number(slider.value);
    const up = Math.floor(now + tolerance) + 1;
    const down = Math.ceil(now - tolerance) - 1;
    const targets = {
      ArrowRight: up, ArrowUp: up, ArrowLeft: down, ArrowDown: down,
      PageUp: up + page - 1, PageDown: down - page + 1, Home: 0, End: last,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    go(targets[event.key]);
  });
  return slider;
}

/** Put the thumb at `position` and say the value in words. */
export function placeSlider(slider, position, words, last) {
  slider.value = position;
  slider.style.setProperty("--rc-filled", `${(100 * position) / last}%`);
  if (slider.getAttribute("aria-valuetext") !== words) slider.setAttribute("aria-valuetext", words);
}

const NOTHING = { number: "–", unit: "" };

/** One readout: a name, a number with its unit, and a remark in small print. */
function createTile(label, name) {
  const number = html("span", { class: "rc-number", "data-rc-value": name });
  const unit = html("span", { class: "rc-unit" });
  const remark = html("span", { class: "rc-remark" });
  return {
    node: html("div", { class: "rc-tile" }, html("dt", {}, label), html("dd", {}, html("span", { class: "rc-reading" }, number, " ", unit), remark)),
    /** `exact` is the value behind the rounded text. */
    show(parts, exact, small) {
      const { number: digits, unit: symbol } = parts || NOTHING;
      write(number, digits);
      write(unit, symbol);
      write(remark, small);
      set(number, { "data-rc-exact": parts ? String(exact) : "" });
    },
  };
}

/**
 * The readouts of an explorer by name: a function of { name: [parts, remark] } and the values `v` behind them. Without parts a
 * dash is shown; a readout that is left out is hidden. Up to three stand in one row.
 */
export function createTiles(shell, names) {
  const tiles = Object.entries(names).map(([name, label]) => ({ name, ...createTile(label, name) }));
  shell.tiles.append(...tiles.map((tile) => tile.node));
  return (readings, v) => {
    for (const { name, node, show } of tiles) {
      const [parts, remark] = readings[name] || [null, ""];
      node.hidden = !(name in readings);
      show(parts, v[name], remark);
    }
    shell.tiles.classList.toggle("rc-three", Object.keys(readings).length <= 3);
  };
}

/**
 * What the chart shows as tables under a fold, filled while it is open: `show(tables)` with a function that returns [caption,
 * heads, rows, current] of each. Rows are of text, the first cell of each its name; `current` is the place of the row that the
 * state is at. `also` tells two regions of one name apart for who hears the page.
 */
export function createDataTable(title, also) {
  const region = html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": title + also, "data-lm-suppress-shortcuts": "true" });
  const node = html("details", { class: "rc-table" }, html("summary", { "data-lm-suppress-shortcuts": "true" }, title), region);
  let wanted = () => [];
  const fill = () => { if (node.open) region.replaceChildren(...wanted().map(tableOf)); };
  node.addEventListener("toggle", fill);
  return {
    node,
    show(tables) {
      wanted = tables;
      fill();
    },
  };
}

function tableOf([caption, heads, rows, current]) {
  return html("table", {}, html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows.map(([name, ...cells], i) => html("tr", { "aria-current": i === current && "true" },
      html("th", { scope: "row" }, name), ...cells.map((text) => html("td", {}, text))))));
}

const QUIET = 500; // milliseconds without a change, after which the sentence is said
const KEPT = 5000; // and until it is taken away again: it stands in the page already

/** The sentence for who hears the page: the last one of a flood of changes, once, when the reader has stopped. */
export function createVoice() {
  const node = html("p", { class: "rc-voice", role: "status" });
  let heard;
  let timer;
  return {
    node,
    /** The sentence of now. The first one, of a page that has just opened, is not said unless it is to be. */
    hear(text, aloud = heard !== undefined && heard !== text) {
      heard = text;
      if (!aloud) return;
      clearTimeout(timer);
      write(node, "");
      timer = setTimeout(() => {
        write(node, text);
        timer = setTimeout(write, KEPT, node, "");
      }, QUIET);
    },
    stop: () => clearTimeout(timer),
  };
}

/** A note that floats beside a point of the chart; the same words are the point's accessible name. */
export function createHint(stage) {
  const node = html("div", { class: "rc-hint", "aria-hidden": "true", hidden: true });
  stage.append(node);
  return (text, x, y) => {
    node.hidden = text === null;
    if (text === null) return;
    write(node, text);
    const left = Math.min(Math.max(x - node.offsetWidth / 2, 0), stage.clientWidth - node.offsetWidth);
    const above = y - node.offsetHeight - 14;
    set(node, { style: `left:${left}px;top:${above > 0 ? above : y + 16}px` });
  };
}

/** Point the link at a state; hide it where a state has no address. */
export function showLink(link, href) {
  link.hidden = href === null;
  if (href !== null) link.href = href;
}

/** Show a note, or hide it when there is nothing to say. */
export function showNote(node, text) {
  node.hidden = text === "";
  write(node, text);
}

/** A device's colour, for marks and for words, as custom properties: the palette defines both for light and dark pages. */
export function colourBy(node, device) {
  node.style.setProperty("--rc-device", `var(--rc-${device.colour})`);
  node.style.setProperty("--rc-device-text", `var(--rc-${device.colour}-text)`);
}

/** The body font of the page, for measuring text; read when needed, since a theme may load late. */
export function fontOf(root) {
  return getComputedStyle(root).fontFamily;
}

/** The width to draw for while the stage has none: JupyterLab attaches it later, a folded part of a page has no width. */
const UNSEEN = 640.5; // not a whole number, so that the first real width always differs

/** Call `onWidth(width)` now and whenever the stage gets another width. Returns a function that stops it. */
export function watchWidth(stage, onWidth) {
  const measure = () => {
    const width = Math.floor(stage.clientWidth);
    if (width > 0) onWidth(width);
  };
  const observer = new ResizeObserver(measure);
  observer.observe(stage);
  onWidth(Math.floor(stage.clientWidth) || UNSEEN);
  return () => observer.disconnect();
}
