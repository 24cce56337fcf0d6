// The main explorer: one product X (M x 8192) times A (8192 x 8192), any M, on twelve devices, under their rooflines.

import { html, write } from "../dom.js";
import { percent, rateParts, significant, tflopParts, tflops, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import {
  NOTHING, colourBy, createHint, createSelect, createShell, createSlider, createTile, fontOf, labelled, markAbsent, placeSlider,
  showLink, showNote, sourceOf, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf, precisionOf, sizeOf } from "../spec.js";
import { createSweepChart } from "./m_sweep_chart.js";
import { LARGEST_M, computeSweep, sweepPoint, sweepWithRun } from "./m_sweep_model.js";

const LAST = Math.log2(LARGEST_M);

function mountSweep({ root, model, spec, host }) {
  const shell = createShell(root, "M, precision and device");
  const change = (values) => {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  };

  const slider = createSlider({ last: LAST, page: 3, onMove: (position) => change({ m: 2 ** position }) });
  const box = html("input", { type: "number", min: 1, max: LARGEST_M, step: 1, inputmode: "numeric", "aria-describedby": `${shell.prefix}-wrong` });
  const wrong = html("span", { class: "rc-wrong", id: `${shell.prefix}-wrong`, role: "status" });
  box.addEventListener("input", () => {
    const m = Number(box.value);
    const fine = box.value.trim() !== "" && isRows(m);
    box.setAttribute("aria-invalid", String(!fine));
    write(wrong, fine ? "" : `M is a whole number from 1 to ${LARGEST_M}.`);
    if (fine) change({ m });
  });
  box.addEventListener("blur", () => { if (box.getAttribute("aria-invalid") === "true") showRows(model.get("m")); });
  const precision = createSelect(spec.precisions.map((p) => [p.name, p.label]), (value) => change({ precision: value }));
  const device = createSelect(spec.devices.map((d) => [d.key, titleOf(d)]), (value) => change({ device: value }));
  shell.controls.append(
    labelled(shell, "m", "M, rows of the input, 1 to 8192", slider, "rc-wide"),
    labelled(shell, "m_exact", "M, exact", box),
    labelled(shell, "precision", "Precision", precision),
    labelled(shell, "device", "Device", device),
    wrong,
  );

  const hint = createHint(shell.stage);
  const chart = createSweepChart(spec, () => fontOf(root), { onPick: change, onHint: hint });
  shell.stage.prepend(chart.node);

  const tiles = {
    seconds: createTile("Time", "seconds"),
    bound_seconds: createTile("Lower bound", "bound_seconds"),
    flop_per_s: createTile("Throughput", "flop_per_s"),
    percent_of_roof: createTile("Percent of the roof", "percent_of_roof"),
    bytes_per_s: createTile("Achieved bandwidth", "bytes_per_s"),
    intensity: createTile("Arithmetic intensity", "intensity"),
  };
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));

  const table = createTable(spec);
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = createLegend();
  shell.foot.append(legend.node, ...(host.linkTo ? [link] : []), table.node);

  function showRows(m) {
    placeSlider(slider, Math.log2(m), `M = ${m} ${m === 1 ? "row" : "rows"}`, LAST);
    if (document.activeElement !== box || Number(box.value) !== m) box.value = m;
    box.setAttribute("aria-invalid", "false");
    write(wrong, "");
  }

  function state() {
    return { m: model.get("m"), precision: model.get("precision"), device: model.get("device") };
  }

  function update() {
    const now = state();
    const values = computeSweep(spec, now);
    const chosen = deviceOf(spec, now.device);
    const format = precisionOf(spec, now.precision);
    showRows(now.m);
    precision.value = now.precision;
    device.value = now.device;
    markAbsent(precision, spec.precisions.map((p) => [p.label, p.name in chosen.roofs]));
    markAbsent(device, spec.devices.map((d) => [titleOf(d), format.name in d.roofs]));
    colourBy(root, chosen);
    chart.show(now, values);
    showTiles(tiles, values);
    write(shell.sentence, values.sentence);
    legend.show(sourceOf(spec, chosen));
    table.show(chosen, format, now.m);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();

  /** The same devices, with more points or other roofs. */
  function respec() {
    chart.forget();
    table.forget();
    update();
  }

  return { update, respec, note: (text) => showNote(shell.note, text), destroy: stop };
}

function isRows(m) {
  return Number.isInteger(m) && m >= 1 && m <= LARGEST_M;
}

function showTiles(tiles, v) {
  tiles.intensity.show({ number: significant(v.intensity, 3), unit: "FLOP/byte" }, v.intensity,
    v.available ? `ridge point ${significant(v.ridge_point, 3)}` : "");
  if (!v.available) {
    for (const name of ["seconds", "bound_seconds", "flop_per_s", "percent_of_roof", "bytes_per_s"]) {
      tiles[name].show(NOTHING, undefined, "no data");
    }
    return;
  }
  tiles.bound_seconds.show(timeParts(v.bound_seconds), v.bound_seconds, "by the model");
  if (!v.measured) {
    for (const name of ["seconds", "flop_per_s", "percent_of_roof", "bytes_per_s"]) tiles[name].show(NOTHING, undefined, "not measured");
    return;
  }
  tiles.seconds.show(timeParts(v.seconds), v.seconds, v.unstable ? "measured, unstable" : "measured");
  tiles.flop_per_s.show(tflopParts(v.flop_per_s), v.flop_per_s, `roof ${tflops(v.attainable)}`);
  tiles.percent_of_roof.show({ number: significant(v.percent_of_roof, 3), unit: "%" }, v.percent_of_roof, `${v.bound}-bound`);
  tiles.bytes_per_s.show(rateParts(v.bytes_per_s), v.bytes_per_s, `${percent(v.percent_of_bandwidth)} of B`);
}

function createLegend() {
  const key = (name, text = "") => html("span", { class: `rc-key rc-key-${name}` }, text);
  const measured = key("measured");
  return {
    node: html("p", { class: "rc-legend" }, measured, key("unstable", "measured, unstable"), key("model", "model: min(F, B·I)")),
    show: (source) => write(measured, `measured (${source})`),
  };
}

/** The sweep as a table, filled while it is open. */
function createTable(spec) {
  const caption = html("caption");
  const body = html("tbody");
  const heads = ["M", "I, FLOP/byte", "time", "TFLOP/s", "GB/s", "% of roof", ""].map((name) => html("th", { scope: "col" }, name || "remark"));
  const summary = html("summary", { "data-lm-suppress-shortcuts": "true" }, "The sweep as a table");
  const scroller = html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "The sweep as a table", "data-lm-suppress-shortcuts": "true" },
    html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads)), body));
  const node = html("details", { class: "rc-table" }, summary, scroller);
  let shown = "";
  let wanted = null;

  function fill() {
    const [device, precision, m] = wanted;
    const key = `${device.key} ${precision.name}`;
    if (shown !== key) {
      const roof = device.roofs[precision.name];
      write(caption, `${titleOf(device)}, ${precision.label}, N = K = ${sizeOf(spec, device, precision)}, warm`);
      const rows = roof === undefined ? [] : roof.sweep.map(([rowM]) => row(sweepPoint(spec, device, precision, rowM)));
      body.replaceChildren(...rows);
      shown = key;
    }
    for (const line of body.children) {
      if (Number(line.dataset.m) === m) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    }
  }

  node.addEventListener("toggle", () => { if (node.open && wanted !== null) fill(); });
  return {
    node,
    forget() { shown = ""; },
    show(...now) {
      wanted = now;
      if (node.open) fill();
    },
  };
}

const WHY = { l2: "part of the data from a cache", bandwidth: "B is a lower bound", unknown: "above the roof", unstable: "above the roof", "": "" };

function row(v) {
  const unstable = v.spread === undefined ? "unstable" : `unstable: IQR ${percent(100 * v.spread)}`;
  const doubt = v.suspect === undefined ? v.unstable && unstable : `suspect: ${v.suspect}`;
  const remarks = [doubt || "", WHY[v.above_roof]].filter((text) => text !== "");
  const cells = [significant(v.intensity, 3), time3(v.seconds), significant(v.flop_per_s / 1e12, 3),
    significant(v.bytes_per_s / 1e9, 3), significant(v.percent_of_roof, 3), remarks.join("; ") || "measured"];
  return html("tr", { "data-m": v.m }, html("th", { scope: "row" }, String(v.m)), ...cells.map((cell) => html("td", {}, cell)));
}

register("m_sweep", {
  keys: ["m", "precision", "device"],
  compute: computeSweep,
  mount: mountSweep,
  withRun: sweepWithRun,
  accept(spec, key, text) {
    if (key === "m") return /^\d+$/.test(text) && isRows(Number(text)) ? Number(text) : undefined;
    return acceptName(spec, key, text);
  },
});
