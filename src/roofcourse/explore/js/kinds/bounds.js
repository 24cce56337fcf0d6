// The explorer of chapter 1: a kernel's work W and traffic Q on a device give two least times; the longer one bounds it.

import { html, set, write } from "../dom.js";
import { bytes, flop, rate, significant, tflops, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { peaksWithRun } from "../run.js";
import {
  NOTHING, colourBy, createDataTable, createSelect, createShell, createSlider, createTile, fontOf, labelled,
  markAbsent, placeSlider, showLink, showNote, sourceOf, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf, precisionOf } from "../spec.js";
import { createBoundsChart } from "./bounds_chart.js";
import { computeBounds } from "./bounds_model.js";

const PER_DECADE = 50;
const RANGES = { flop: [1e6, 1e15], bytes: [1e3, 1e12] };

const LAST_STEP = 9 * PER_DECADE; // both ranges have nine decades
const positionOf = (key, value) => PER_DECADE * Math.log10(value / RANGES[key][0]);
/** Three digits: a slider is a rough instrument, and 2.15 GFLOP reads better than 2.1544. */
const valueAt = (key, position) => Number((RANGES[key][0] * 10 ** (position / PER_DECADE)).toPrecision(3));

function mountBounds({ root, model, spec, host }) {
  const shell = createShell(root, "work, traffic, precision and device");
  const change = (values) => {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  };

  const kernel = createSelect([["", "your own W and Q"], ...spec.kernels.map((k, i) => [String(i), k.label])], (index) => {
    if (index === "") return;
    const { flop: w, bytes: q, precision: name } = spec.kernels[Number(index)];
    change({ flop: w, bytes: q, precision: name });
  });
  const precision = createSelect(spec.precisions.map((p) => [p.name, p.label]), (value) => change({ precision: value }));
  const device = createSelect(spec.devices.map((d) => [d.key, titleOf(d)]), (value) => change({ device: value }));
  const slide = (key) => createSlider({
    last: LAST_STEP, page: PER_DECADE, tolerance: 0.25, onMove: (position) => change({ [key]: valueAt(key, position) }),
  });
  const sliders = { flop: slide("flop"), bytes: slide("bytes") };
  const shown = { flop: html("output", { "data-rc-value": "flop" }), bytes: html("output", { "data-rc-value": "bytes" }) };
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(
    labelled(shell, "kernel", "Try a kernel", kernel, "rc-kernel"),
    labelled(shell, "precision", "Precision", precision),
    labelled(shell, "device", "Device", device),
    withReadout(labelled(shell, "flop", "Work W", sliders.flop, "rc-half"), shown.flop, sliders.flop),
    withReadout(labelled(shell, "bytes", "Traffic Q", sliders.bytes, "rc-half"), shown.bytes, sliders.bytes),
  );

  const chart = createBoundsChart(() => fontOf(root));
  shell.stage.append(chart.node);

  const tiles = {
    bound_seconds: createTile("Least time T", "bound_seconds"),
    intensity: createTile("The kernel's W/Q", "intensity"),
    ridge_point: createTile("The device's F/B", "ridge_point"),
  };
  const sign = html("div", { class: "rc-sign", "aria-hidden": "true" });
  tiles.ridge_point.node.append(sign);
  shell.tiles.classList.add("rc-three");
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));

  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = html("p", { class: "rc-legend" });
  const table = createDataTable("The two bounds as a table");
  shell.foot.append(legend, ...(host.linkTo ? [link] : []), table.node);

  function update() {
    const now = Object.fromEntries(["flop", "bytes", "precision", "device"].map((key) => [key, model.get(key)]));
    const v = computeBounds(spec, now);
    const chosen = deviceOf(spec, now.device);
    const format = precisionOf(spec, now.precision);
    showAmount("flop", now.flop, "W", flop(now.flop));
    showAmount("bytes", now.bytes, "Q", bytes(now.bytes));
    const index = spec.kernels.findIndex((k) => k.flop === now.flop && k.bytes === now.bytes && k.precision === now.precision);
    kernel.value = index < 0 ? "" : String(index);
    precision.value = now.precision;
    device.value = now.device;
    markAbsent(precision, spec.precisions.map((p) => [p.label, p.name in chosen.peaks]));
    markAbsent(device, spec.devices.map((d) => [titleOf(d), format.name in d.peaks]));
    colourBy(root, chosen);
    chart.show(v);
    showTiles(v);
    write(shell.sentence, v.sentence);
    table.show(`${titleOf(chosen)}, ${format.label}: the longer of the two times bounds the kernel`, ["part", "amount", "at most", "least time"], () => [
      ["work W", flop(v.flop), ...(v.available ? [tflops(v.peak), time3(v.compute_seconds)] : ["not measured", "–"])],
      ["traffic Q", bytes(v.bytes), rate(v.bandwidth), time3(v.memory_seconds)],
    ]);
    write(legend, `F and B measured (${sourceOf(spec, chosen)}); the times are the model's lower bounds`);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  function showAmount(key, value, symbol, words) {
    placeSlider(sliders[key], positionOf(key, value), `${symbol} = ${words}`, LAST_STEP);
    write(shown[key], words);
    set(shown[key], { "data-rc-exact": String(value) });
  }

  function showTiles(v) {
    const side = { memory: "smaller than F/B", compute: "larger than F/B", balanced: "equal to F/B within 1\u00a0%" };
    tiles.intensity.show({ number: significant(v.intensity, 3), unit: "FLOP/byte" }, v.intensity, side[v.bound] || "");
    write(sign, { memory: "<", compute: ">", balanced: "≈" }[v.bound] || "");
    if (!v.available) {
      tiles.bound_seconds.show(NOTHING, undefined, "F unknown");
      tiles.ridge_point.show(NOTHING, undefined, "F unknown");
      return;
    }
    const [first, second] = [v.compute_seconds, v.memory_seconds];
    tiles.bound_seconds.show(timeParts(v.bound_seconds), v.bound_seconds, `the longer of ${time3(first)} and ${time3(second)}`);
    tiles.ridge_point.show({ number: significant(v.ridge_point, 3), unit: "FLOP/byte" }, v.ridge_point, "the ridge point");
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return { update, note: (text) => showNote(shell.note, text), destroy: stop };
}

/** The value of a slider, beside its label. */
function withReadout(control, output, slider) {
  set(output, { for: slider.id, "aria-hidden": "true" });
  control.querySelector("label").after(output);
  return control;
}

register("bounds", {
  keys: ["flop", "bytes", "precision", "device"],
  compute: computeBounds,
  withRun: peaksWithRun,
  mount: mountBounds,
  accept(spec, key, text) {
    if (!(key in RANGES)) return acceptName(spec, key, text);
    const value = text.trim() === "" ? NaN : Number(text);
    return value >= RANGES[key][0] && value <= RANGES[key][1] ? value : undefined;
  },
});
