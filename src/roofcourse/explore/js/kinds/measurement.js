// The explorer of chapter 4: what a benchmark measures, by working set (memory) or by multiply-adds R (FMA sweep).

import { html, set, write } from "../dom.js";
import { percent, rateParts, significant, tflopParts, time, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import {
  NOTHING, colourBy, createDataTable, createSelect, createShell, createSlider, createTile, fontOf, labelled, markAbsent,
  placeSlider, showLink, showNote, sourceOf, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf } from "../spec.js";
import { createMeasurementChart } from "./measurement_chart.js";
import { binarySize, computeMeasurement, isFma, measurementWithRun } from "./measurement_model.js";

const MOST_POINTS = 24; // of the longest series

const share3 = (value) => ({ number: significant(value, 3), unit: "%" });

const MEASURED_HEADS = {
  memory: ["working set", "time", "GB/s", "of B"],
  fma: ["R", "time", "I, FLOP/byte", "TFLOP/s", "of the roof", "of B"],
};

/** Every point of the series that is shown, as text. */
function measuredRows(spec, now, points, fma) {
  return Array.from({ length: points }, (_, i) => {
    const v = computeMeasurement(spec, { ...now, point: i + 1 });
    const took = `${time3(v.seconds)}${v.unstable ? ", unstable" : ""}`;
    return fma
      ? [String(v.r), took, significant(v.intensity, 3), significant(v.flop_per_s / 1e12, 3), percent(v.percent_of_roof), percent(v.percent_of_b)]
      : [binarySize(v.working_set), took, significant(v.bytes_per_s / 1e9, 3), percent(v.percent_of_b)];
  });
}

function mountMeasurement({ root, model, spec, host }) {
  const shell = createShell(root, "kernel, device and point");
  const change = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const lastOf = () => deviceOf(spec, model.get("device")).series[model.get("kernel")]?.length - 1 || 0;

  const kernel = createSelect(spec.kernels.map((k) => [k.name, k.label]), (value) => change("kernel", value));
  const device = createSelect(spec.devices.map((d) => [d.key, titleOf(d)]), (value) => change("device", value));
  const point = createSlider({
    last: MOST_POINTS - 1, page: 3, onMove: (position) => change("point", Math.min(position, lastOf()) + 1),
  });
  const where = html("output", { "data-rc-value": "number" });
  const slider = labelled(shell, "point", "Point", point, "rc-half");
  const label = slider.querySelector("label");
  set(where, { for: point.id, "aria-hidden": "true" });
  label.after(where);
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(
    labelled(shell, "kernel", "Kernel", kernel),
    labelled(shell, "device", "Device", device),
    slider,
  );

  const chart = createMeasurementChart(() => fontOf(root));
  shell.stage.append(chart.node);

  const tiles = {
    seconds: createTile("Time of one call", "seconds"),
    bytes_per_s: createTile("Achieved bandwidth", "bytes_per_s"),
    percent_of_b: createTile("Of B", "percent_of_b"),
    flop_per_s: createTile("Throughput", "flop_per_s"),
    percent_of_roof: createTile("Of the roof", "percent_of_roof"),
    intensity: createTile("Arithmetic intensity", "intensity"),
  };
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));

  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = html("p", { class: "rc-legend" });
  const table = createDataTable("The points as a table");
  shell.foot.append(legend, ...(host.linkTo ? [link] : []), table.node);

  function update() {
    const now = Object.fromEntries(["kernel", "device", "point"].map((key) => [key, model.get(key)]));
    const v = computeMeasurement(spec, now);
    const card = deviceOf(spec, now.device);
    const fma = isFma(now.kernel);
    kernel.value = now.kernel;
    device.value = now.device;
    const there = v.points > 0;
    const words = there ? (fma ? `R = ${v.r}` : binarySize(v.working_set)) : "none";
    markAbsent(kernel, spec.kernels.map((k) => [k.label, k.name in card.series]));
    set(point, { max: Math.max(v.points - 1, 1) });
    point.disabled = !there;
    write(label, fma ? "Multiply-adds R" : "Working set");
    placeSlider(point, Math.max(v.number - 1, 0), words, Math.max(v.points - 1, 1));
    write(where, words);
    set(where, { "data-rc-exact": String(v.number) });
    colourBy(root, card);
    chart.show(v, card, now.kernel, fma);
    showTiles(v, fma);
    const source = sourceOf(spec, card);
    write(legend, fma
      ? `points measured (${source}); line: the roof, min(F, B · I)`
      : `points measured (${source}); line: B${card.launch > 0 ? "; dashed: a + V/b fitted to the small copies" : ""}`);
    write(shell.sentence, v.sentence);
    const { label: kernelName } = spec.kernels.find(({ name }) => name === now.kernel);
    table.show(`${titleOf(card)}, ${kernelName}`, MEASURED_HEADS[fma ? "fma" : "memory"], () => measuredRows(spec, now, v.points, fma), v.number - 1);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  function showTiles(v, fma) {
    shell.tiles.classList.toggle("rc-three", !fma);
    for (const key of ["flop_per_s", "percent_of_roof", "intensity"]) {
      tiles[key].node.hidden = !fma;
      if (!fma) tiles[key].show(NOTHING, undefined);
    }
    if (v.points === 0) {
      for (const tile of Object.values(tiles)) tile.show(NOTHING, undefined, "no data");
      return;
    }
    tiles.seconds.show(timeParts(v.seconds), v.seconds, fma || v.launch_seconds === 0 ? "" : `a launch alone: ${time(v.launch_seconds)}`);
    tiles.bytes_per_s.show(rateParts(v.bytes_per_s), v.bytes_per_s, "bytes by formula / time");
    tiles.percent_of_b.show(share3(v.percent_of_b), v.percent_of_b, v.percent_of_b > 105 ? "not memory: a cache" : "of the memory bandwidth");
    if (!fma) return;
    tiles.flop_per_s.show(tflopParts(v.flop_per_s), v.flop_per_s, "2 R FLOP a number / time");
    tiles.percent_of_roof.show(share3(v.percent_of_roof), v.percent_of_roof, v.bound === "memory" ? "the slope B · I" : "the flat part F");
    tiles.intensity.show({ number: significant(v.intensity, 3), unit: "FLOP/byte" }, v.intensity, "W/Q");
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return { update, note: (text) => showNote(shell.note, text), destroy: stop };
}

register("measurement", {
  keys: ["kernel", "device", "point"],
  compute: computeMeasurement,
  mount: mountMeasurement,
  withRun: measurementWithRun,
  accept(spec, key, text) {
    if (key === "device") return acceptName(spec, key, text);
    if (key === "kernel") return spec.kernels.some(({ name }) => name === text) ? text : undefined;
    return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_POINTS ? Number(text) : undefined;
  },
});
