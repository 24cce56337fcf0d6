// The explorer of chapter 2: the sizes and the precision of a matrix product, its intensity, and what its traffic is made of.

import { html, write } from "../dom.js";
import { bytes, flop, percent3, significant } from "../format.js";
import { register } from "../registry.js";
import { peaksWithRun } from "../run.js";
import {
  colourBy, createSelect, createShell, createSlider, createTile, fontOf, labelled, markAbsent,
  placeSlider, showLink, showNote, sourceOf, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf, precisionOf } from "../spec.js";
import { createIntensityChart } from "./intensity_chart.js";
import { LARGEST_SIZE, computeIntensity } from "./intensity_model.js";

const TOP_STEP = Math.log2(LARGEST_SIZE);
const SIZE_NAMES = { m: "M, rows of X", n: "N, columns of A", k: "K, summed over" };

const isSize = (value) => Number.isInteger(value) && value >= 1 && value <= LARGEST_SIZE;

function mountIntensity({ root, model, spec, host }) {
  const shell = createShell(root, "sizes, precision and device");
  const change = (values) => {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  };

  const shape = createSelect([["", "your own sizes"], ...spec.shapes.map((s, i) => [String(i), s.label])], (index) => {
    if (index === "") return;
    const { m, n, k } = spec.shapes[Number(index)];
    change({ m, n, k });
  });
  const precision = createSelect(spec.precisions.map((p) => [p.name, p.label]), (value) => change({ precision: value }));
  const device = createSelect(spec.devices.map((d) => [d.key, titleOf(d)]), (value) => change({ device: value }));
  const wrong = html("span", { class: "rc-wrong", id: `${shell.prefix}-wrong`, role: "status" });
  const sizes = Object.fromEntries(Object.keys(SIZE_NAMES).map((key) => [key, createSize(key)]));
  shell.controls.classList.add("rc-sizes");
  shell.controls.append(
    labelled(shell, "shape", "Try a shape", shape, "rc-kernel"),
    labelled(shell, "precision", "Precision", precision),
    labelled(shell, "device", "Device", device),
    ...Object.entries(sizes).map(([key, { slider, box }]) => html("div", { class: "rc-size" },
      labelled(shell, key, SIZE_NAMES[key], slider), labelled(shell, `${key}_exact`, `${key.toUpperCase()}, exact`, box))),
    wrong,
  );

  /** A slider over the powers of two, and a box for every other whole number. */
  function createSize(key) {
    const slider = createSlider({ last: TOP_STEP, page: 3, onMove: (position) => change({ [key]: 2 ** position }) });
    const box = html("input", { type: "number", min: 1, max: LARGEST_SIZE, step: 1, inputmode: "numeric", "aria-describedby": wrong.id });
    box.addEventListener("input", () => {
      const value = box.value.trim() === "" ? NaN : Number(box.value);
      box.setAttribute("aria-invalid", String(!isSize(value)));
      write(wrong, isSize(value) ? "" : `${key.toUpperCase()} is a whole number from 1 to ${LARGEST_SIZE}.`);
      if (isSize(value)) change({ [key]: value });
    });
    box.addEventListener("blur", () => { if (box.getAttribute("aria-invalid") === "true") showSize(key, model.get(key)); });
    return { slider, box };
  }

  function showSize(key, value) {
    const { slider, box } = sizes[key];
    placeSlider(slider, Math.log2(value), `${key.toUpperCase()} = ${value}`, TOP_STEP);
    if (document.activeElement !== box || Number(box.value) !== value) box.value = value;
    if (box.getAttribute("aria-invalid") === "true") write(wrong, "");
    box.setAttribute("aria-invalid", "false");
  }

  const chart = createIntensityChart(() => fontOf(root));
  shell.stage.append(chart.node);
  const tiles = {
    intensity: createTile("Arithmetic intensity I", "intensity"),
    flop: createTile("Work W", "flop"),
    bytes: createTile("Traffic Q", "bytes"),
  };
  shell.tiles.classList.add("rc-three");
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));
  const table = createTrafficTable();
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = html("p", { class: "rc-legend" });
  shell.foot.append(
    legend,
    ...(host.linkTo ? [link] : []), table.node,
  );

  function update() {
    const now = Object.fromEntries(["m", "n", "k", "precision", "device"].map((key) => [key, model.get(key)]));
    const v = computeIntensity(spec, now);
    const chosen = deviceOf(spec, now.device);
    const format = precisionOf(spec, now.precision);
    for (const key of Object.keys(sizes)) showSize(key, now[key]);
    const index = spec.shapes.findIndex((s) => s.m === now.m && s.n === now.n && s.k === now.k);
    shape.value = index < 0 ? "" : String(index);
    precision.value = now.precision;
    device.value = now.device;
    markAbsent(precision, spec.precisions.map((p) => [p.label, p.name in chosen.peaks]));
    markAbsent(device, spec.devices.map((d) => [titleOf(d), format.name in d.peaks]));
    colourBy(root, chosen);
    const others = spec.devices.filter((d) => d !== chosen && format.name in d.peaks);
    chart.show(v, chosen.name, others.map((d) => d.peaks[format.name] / d.bandwidth));
    const [work, traffic] = [flop(v.flop), bytes(v.bytes)].map((text) => text.split("\u00a0"));
    const ridge = v.available ? `ridge point ${significant(v.ridge_point, 3)}: ${v.bound === "balanced" ? "balanced" : `${v.bound}-bound`}` : "no ridge point here";
    tiles.intensity.show({ number: significant(v.intensity, 3), unit: "FLOP/byte" }, v.intensity, ridge);
    tiles.flop.show({ number: work[0], unit: work[1] }, v.flop, "2 M N K");
    tiles.bytes.show({ number: traffic[0], unit: traffic[1] }, v.bytes, "X and A read, Y written");
    write(shell.sentence, v.sentence);
    table.show(v, format);
    write(legend, `W and Q counted; ridge points measured (${sourceOf(spec, chosen)}), short strokes: other cards`);
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

/** The traffic in figures, matrix by matrix. */
function createTrafficTable() {
  const caption = html("caption");
  const body = html("tbody");
  const heads = ["matrix", "shape", "elements", "bytes", "share"].map((name) => html("th", { scope: "col" }, name));
  const node = html("details", { class: "rc-table" }, html("summary", { "data-lm-suppress-shortcuts": "true" }, "The traffic as a table"),
    html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "The traffic as a table", "data-lm-suppress-shortcuts": "true" },
      html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads)), body)));
  const row = (name, ...cells) => html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell)));
  const whole = (value) => significant(value, 1);
  return {
    node,
    show(v, format) {
      const shapes = { x: ["X, read", v.m, v.k], a: ["A, read", v.k, v.n], y: ["Y, written", v.m, v.n] };
      write(caption, `${format.label}, each matrix moved once`);
      const matrices = Object.entries(shapes).map(([part, [name, rows, columns]]) => row(name, `${rows} × ${columns}`,
        whole(rows * columns), bytes(v[`bytes_${part}`]), percent3(v[`percent_${part}`])));
      const scales = v.bytes_scales > 0 ? [row("block scales", "", "", bytes(v.bytes_scales), percent3(v.percent_scales))] : [];
      body.replaceChildren(...matrices, ...scales, row("all", "", "", bytes(v.bytes), percent3(100)));
    },
  };
}

register("intensity", {
  keys: ["m", "n", "k", "precision", "device"],
  compute: computeIntensity,
  withRun: peaksWithRun,
  mount: mountIntensity,
  accept(spec, key, text) {
    if (key in SIZE_NAMES) return /^\d+$/.test(text) && isSize(Number(text)) ? Number(text) : undefined;
    return acceptName(spec, key, text);
  },
});
