// The explorer of chapter 4: what a benchmark measures, by working set (memory) or by multiply-adds R (FMA sweep).

import { createChoice, createReadout } from "../controls.js";
import { acceptWhole } from "../counts.js";
import { set, write } from "../dom.js";
import { intensityParts, percent, percentParts, rateParts, significant, tflopParts, time, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { createTiles } from "../shell.js";
import { acceptName, deviceOf, sourceOf, titleOf } from "../spec.js";
import { createMeasurementChart } from "./measurement_chart.js";
import { binarySize, computeMeasurement, isFma, measurementWithRun } from "./measurement_model.js";

const MOST_POINTS = 24; // of the longest series

function buildMeasurement(page) {
  const { spec, shell } = page;
  const lastOf = () => deviceOf(spec, page.get("device")).series[page.get("kernel")]?.length - 1 || 0;
  const point = createReadout(page, "point", "number", "Point", {
    last: MOST_POINTS - 1, page: 3, onMove: (position) => page.change({ point: Math.min(position, lastOf()) + 1 }),
  });
  shell.controls.classList.add("rc-bounds", "rc-measurement");
  shell.controls.append(
    createChoice(page, "kernel", "Kernel", spec.kernels.map((k) => [k.name, k.label]),
      { present: (name, now) => name in deviceOf(spec, now.device).series }),
    createChoice(page, "device", "Device", spec.devices.map((d) => [d.key, titleOf(d)])),
    point.control,
  );
  const chart = createMeasurementChart(page.font);
  const tiles = createTiles(shell, {
    seconds: "Time of one call",
    bytes_per_s: "Achieved bandwidth",
    percent_of_b: "Percent of B",
    flop_per_s: "Throughput",
    percent_of_roof: "Percent of the roof",
    intensity: "Arithmetic intensity",
  });

  function showPoint(v, fma) {
    const last = Math.max(v.points - 1, 1);
    const words = v.points === 0 ? "none" : fma ? `R = ${v.r}` : binarySize(v.working_set);
    set(point.slider, { max: last });
    point.slider.disabled = v.points === 0;
    write(point.title, fma ? "Multiply-adds R" : "Working set");
    point.show(Math.max(v.number - 1, 0), last, words, words, v.number);
  }

  function show(now, v, device) {
    const fma = isFma(now.kernel);
    const source = `points measured (${sourceOf(spec, device)})`;
    const launch = device.launch > 0 ? "; dotted: a + V/b fitted to the small copies" : "";
    const { label } = spec.kernels.find(({ name }) => name === now.kernel);
    showPoint(v, fma);
    chart.show(v, device, now.kernel, fma);
    return {
      tiles: measurementReadings(v, fma),
      legend: fma ? `${source}; line: the roof, min(F, B · I)` : `${source}; line: B${launch}`,
      tables: () => [[`${titleOf(device)}, ${label}`, MEASURED_HEADS[fma ? "fma" : "memory"], measuredRows(spec, now, v.points, fma), v.number - 1]],
    };
  }

  return { chart, tiles, table: "The points as a table", show };
}

function measurementReadings(v, fma) {
  if (v.points === 0) {
    const names = ["seconds", "bytes_per_s", "percent_of_b", ...(fma ? ["flop_per_s", "percent_of_roof", "intensity"] : [])];
    return Object.fromEntries(names.map((name) => [name, [null, "no data"]]));
  }
  return {
    seconds: [timeParts(v.seconds), fma || v.launch_seconds === 0 ? "" : `a launch alone: ${time(v.launch_seconds)}`],
    bytes_per_s: [rateParts(v.bytes_per_s), "bytes by formula / time"],
    percent_of_b: [percentParts(v.percent_of_b), v.percent_of_b > 105 ? "not memory: a cache" : "of the memory bandwidth"],
    ...(fma && {
      flop_per_s: [tflopParts(v.flop_per_s), "2 R FLOP a number / time"],
      percent_of_roof: [percentParts(v.percent_of_roof), v.bound === "memory" ? "the slope B · I" : "the flat part F"],
      intensity: [intensityParts(v.intensity), "W/Q"],
    }),
  };
}

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

register("measurement", {
  about: "kernel, device and point",
  keys: ["kernel", "device", "point"],
  compute: computeMeasurement,
  withRun: measurementWithRun,
  build: buildMeasurement,
  accept(spec, key, text) {
    if (key === "point") return acceptWhole(text, MOST_POINTS);
    if (key === "kernel") return spec.kernels.some(({ name }) => name === text) ? text : undefined;
    return acceptName(spec, key, text);
  },
});
