// The explorer of chapter 7: M useful rows in a kernel that works in blocks of rows, and what the rest of a block costs.

import { html, write } from "../dom.js";
import { percent, significant, time, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import {
  NOTHING, colourBy, createSelect, createShell, createSlider, createTile, fontOf, labelled, markAbsent, placeSlider, showLink, showNote,
  sourceOf, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf, labelOf, precisionOf, sizeOf } from "../spec.js";
import { createPaddingChart } from "./padding_chart.js";
import { MOST_ROWS, computePadding, paddedPoint, paddingWithRun } from "./padding_model.js";

const LAST_DOUBLING = Math.log2(MOST_ROWS);
const isRowCount = (m) => Number.isInteger(m) && m >= 1 && m <= MOST_ROWS;

function mountPadding({ root, model, spec, host }) {
  const shell = createShell(root, "rows, block, precision and device");
  const change = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };

  const slider = createSlider({ last: LAST_DOUBLING, page: 3, onMove: (position) => change("m", 2 ** position) });
  const box = html("input", { type: "number", min: 1, max: MOST_ROWS, step: 1, inputmode: "numeric", "aria-describedby": `${shell.prefix}-wrong` });
  const wrong = html("span", { class: "rc-wrong", id: `${shell.prefix}-wrong`, role: "status" });
  box.addEventListener("input", () => {
    const m = Number(box.value);
    const fine = box.value.trim() !== "" && isRowCount(m);
    box.setAttribute("aria-invalid", String(!fine));
    write(wrong, fine ? "" : `M is a whole number from 1 to ${MOST_ROWS}.`);
    if (fine) change("m", m);
  });
  box.addEventListener("blur", () => { if (box.getAttribute("aria-invalid") === "true") showRows(model.get("m")); });
  const tile = createSelect(spec.tiles.map((rows) => [rows, rows === 1 ? "no blocks" : `${rows} rows`]), (value) => change("tile", Number(value)));
  const precision = createSelect(spec.precisions.map((p) => [p.name, p.label]), (value) => change("precision", value));
  const device = createSelect(spec.devices.map((d) => [d.key, titleOf(d)]), (value) => change("device", value));
  shell.controls.classList.add("rc-padding");
  shell.controls.append(
    labelled(shell, "m", "M, useful rows, 1 to 1024", slider, "rc-wide"),
    labelled(shell, "m_exact", "M, exact", box),
    labelled(shell, "tile", "Block", tile),
    labelled(shell, "precision", "Precision", precision),
    labelled(shell, "device", "Device", device),
    wrong,
  );

  const chart = createPaddingChart(() => fontOf(root), spec);
  shell.stage.append(chart.node);

  const tiles = {
    executed: createTile("Executed rows", "executed"),
    useful_percent: createTile("Useful work", "useful_percent"),
    padded_intensity: createTile("Padded intensity", "padded_intensity"),
    padded_seconds: createTile("Padded bound", "padded_seconds"),
    seconds: createTile("Measured time", "seconds"),
    rows_possible: createTile("Rows possible", "rows_possible"),
  };
  shell.tiles.append(...Object.values(tiles).map((one) => one.node));

  const table = createPaddingTable(spec);
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const key = (name, text) => html("span", { class: `rc-key rc-key-${name}` }, text);
  const measured = key("measured", "");
  shell.foot.append(
    html("p", { class: "rc-legend" }, measured, key("model", "padded bound: max(executed W/F, Q/B)")),
    ...(host.linkTo ? [link] : []), table.node,
  );

  function showRows(m) {
    placeSlider(slider, Math.log2(m), `M = ${m} ${m === 1 ? "row" : "rows"}`, LAST_DOUBLING);
    if (document.activeElement !== box || Number(box.value) !== m) box.value = m;
    box.setAttribute("aria-invalid", "false");
    write(wrong, "");
  }

  function update() {
    const now = Object.fromEntries(["m", "tile", "precision", "device"].map((name) => [name, model.get(name)]));
    const v = computePadding(spec, now);
    const card = deviceOf(spec, now.device);
    const format = precisionOf(spec, now.precision);
    showRows(now.m);
    tile.value = String(now.tile);
    precision.value = now.precision;
    device.value = now.device;
    markAbsent(precision, spec.precisions.map((p) => [p.label, p.name in card.roofs]));
    markAbsent(device, spec.devices.map((d) => [titleOf(d), format.name in d.roofs]));
    colourBy(root, card);
    const at = (m) => paddedPoint(spec, card, format, m, now.tile);
    chart.show(v, at, v.available ? card.roofs[format.name].sweep : [], `${format.label} on the ${labelOf(card)}`);
    showPaddingTiles(tiles, v);
    write(shell.sentence, v.sentence);
    table.show(card, format, now);
    write(measured, `measured (${sourceOf(spec, card)}${"own" in card ? `, N = K = ${sizeOf(spec, card, format)}` : ""})`);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return { update, note: (text) => showNote(shell.note, text), destroy: stop };
}

function showPaddingTiles(tiles, v) {
  tiles.executed.show({ number: String(v.executed), unit: v.executed === 1 ? "row" : "rows" }, v.executed, `useful: ${v.m}`);
  tiles.useful_percent.show({ number: significant(v.useful_percent, 3), unit: "%" }, v.useful_percent, "of the executed work");
  tiles.padded_intensity.show({ number: significant(v.padded_intensity, 3), unit: "FLOP/byte" }, v.padded_intensity,
    v.available ? `ridge point ${significant(v.ridge_point, 3)}` : "");
  if (v.available) tiles.padded_seconds.show(timeParts(v.padded_seconds), v.padded_seconds, `without padding ${time(v.bound_seconds)}`);
  else tiles.padded_seconds.show(NOTHING, undefined, "no data");
  if (!v.measured) {
    for (const name of ["seconds", "rows_possible"]) tiles[name].show(NOTHING, undefined, v.available ? "not measured" : "no data");
    return;
  }
  tiles.seconds.show(timeParts(v.seconds), v.seconds, `${v.suspect ? "suspect; " : v.unstable ? "unstable; " : ""}bound: ${percent(v.percent)} of it`);
  tiles.rows_possible.show({ number: significant(v.rows_possible, 3), unit: "rows" }, v.rows_possible, "in the measured time, at F");
}

/** What was measured, row by row, beside the padded bound: filled while it is open. */
function createPaddingTable(spec) {
  const caption = html("caption");
  const body = html("tbody");
  const heads = ["M", "executed", "padded I", "padded bound", "measured", "bound of measured"].map((name) => html("th", { scope: "col" }, name));
  const summary = html("summary", { "data-lm-suppress-shortcuts": "true" }, "The measured rows as a table");
  const scroller = html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "The measured rows as a table", "data-lm-suppress-shortcuts": "true" },
    html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads)), body));
  const node = html("details", { class: "rc-table" }, summary, scroller);
  let wanted = null;

  function fill() {
    const [card, format, now] = wanted;
    const roof = card.roofs[format.name];
    write(caption, `${titleOf(card)}, ${format.label}, blocks of ${now.tile}, N = K = ${sizeOf(spec, card, format)}, warm`);
    body.replaceChildren(...(roof === undefined ? [] : roof.sweep.map(([m]) => {
      const v = paddedPoint(spec, card, format, m, now.tile);
      const cells = [String(v.executed), significant(v.padded_intensity, 3), time3(v.padded_seconds),
        `${time3(v.seconds)}${v.suspect ? ", suspect" : v.unstable ? ", unstable" : ""}`, percent(v.percent)];
      return html("tr", { "data-m": m, "aria-current": m === now.m ? "true" : null }, html("th", { scope: "row" }, String(m)),
        ...cells.map((cell) => html("td", {}, cell)));
    })));
  }

  node.addEventListener("toggle", () => { if (node.open && wanted !== null) fill(); });
  return {
    node,
    show(...now) {
      wanted = now;
      if (node.open) fill();
    },
  };
}

register("padding", {
  keys: ["m", "tile", "precision", "device"],
  compute: computePadding,
  withRun: paddingWithRun,
  mount: mountPadding,
  accept(spec, key, text) {
    if (key === "m") return /^\d+$/.test(text) && isRowCount(Number(text)) ? Number(text) : undefined;
    if (key === "tile") return /^\d+$/.test(text) && spec.tiles.includes(Number(text)) ? Number(text) : undefined;
    return acceptName(spec, key, text);
  },
});
