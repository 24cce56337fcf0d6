// The explorer of chapter 2: the sizes and the precision of a matrix product, its intensity, and what its traffic is made of.

import { createDeviceChoices, createPresets } from "../controls.js";
import { acceptWhole, createCounts } from "../counts.js";
import { html } from "../dom.js";
import { bytes, bytesParts, flopParts, intensityParts, percent3, significant } from "../format.js";
import { register } from "../registry.js";
import { peaksWithRun } from "../run.js";
import { createTiles } from "../shell.js";
import { acceptName, labelOf, precisionOf, sourceOf } from "../spec.js";
import { createIntensityChart } from "./intensity_chart.js";
import { LARGEST_SIZE, computeIntensity } from "./intensity_model.js";

const SIZES = { m: ["M, rows of X", "rows"], n: ["N, columns of A", "columns"], k: ["K, summed over", "terms"] };

function buildIntensity(page) {
  const { spec, shell } = page;
  const size = (key, [label, unit]) => {
    const name = key.toUpperCase();
    return [key, { largest: LARGEST_SIZE, label, name, box: `${name}, exact`, words: (value) => `${name} = ${value} ${unit}` }];
  };
  const { wrong, ...counts } = createCounts(page, Object.fromEntries(Object.entries(SIZES).map(([key, words]) => size(key, words))));
  shell.controls.classList.add("rc-sizes");
  shell.controls.append(
    createPresets(page, "shape", "Try a shape", "your own sizes", spec.shapes, ["m", "n", "k"]),
    ...createDeviceChoices(page, "peaks"),
    ...Object.values(counts).map((pair) => html("div", { class: "rc-size" }, ...pair)),
    wrong,
  );
  const chart = createIntensityChart(page.font);
  const tiles = createTiles(shell, { intensity: "Arithmetic intensity I", flop: "Work W", bytes: "Traffic Q" });

  function show(now, v, device) {
    const format = precisionOf(spec, now.precision);
    const others = spec.devices.filter((d) => d !== device && format.name in d.peaks);
    chart.show(v, labelOf(device), others.map((d) => d.peaks[format.name] / d.bandwidth));
    const bound = v.bound === "balanced" ? "balanced" : `${v.bound}-bound`;
    return {
      tiles: {
        intensity: [intensityParts(v.intensity), v.available ? `ridge point ${significant(v.ridge_point, 3)}: ${bound}` : "no ridge point here"],
        flop: [flopParts(v.flop), "2 M N K"],
        bytes: [bytesParts(v.bytes), "X and A read, Y written"],
      },
      legend: `W and Q counted; ridge points measured (${sourceOf(spec, device)}), short strokes: other cards`,
      tables: () => [[`${format.label}, each matrix moved once`, ["matrix", "shape", "elements", "bytes", "share"], trafficRows(v)]],
    };
  }

  return { chart, tiles, table: "The traffic as a table", show };
}

/** The traffic in figures, matrix by matrix. */
function trafficRows(v) {
  const shapes = { x: ["X, read", v.m, v.k], a: ["A, read", v.k, v.n], y: ["Y, written", v.m, v.n] };
  return [
    ...Object.entries(shapes).map(([part, [name, rows, columns]]) => [name, `${rows} × ${columns}`,
      significant(rows * columns, 1), bytes(v[`bytes_${part}`]), percent3(v[`percent_${part}`])]),
    ...(v.bytes_scales > 0 ? [["block scales", "", "", bytes(v.bytes_scales), percent3(v.percent_scales)]] : []),
    ["all", "", "", bytes(v.bytes), percent3(100)],
  ];
}

register("intensity", {
  about: "sizes, precision and device",
  keys: ["m", "n", "k", "precision", "device"],
  compute: computeIntensity,
  withRun: peaksWithRun,
  build: buildIntensity,
  accept: (spec, key, text) => (key in SIZES ? acceptWhole(text, LARGEST_SIZE) : acceptName(spec, key, text)),
});
