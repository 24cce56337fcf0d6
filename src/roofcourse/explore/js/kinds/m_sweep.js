// The main explorer: one product X (M x 8192) times A (8192 x 8192), any M, on twelve devices, under their rooflines.

import { createDeviceChoices } from "../controls.js";
import { acceptWhole, createCounts } from "../counts.js";
import { intensityParts, percent, percentParts, rateParts, significant, tflopParts, tflops, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { createHint, createTiles } from "../shell.js";
import { acceptName, precisionOf, sizeOf, sourceOf, titleOf } from "../spec.js";
import { createSweepChart } from "./m_sweep_chart.js";
import { LARGEST_M, computeSweep, sweepPoint, sweepWithRun } from "./m_sweep_model.js";

function buildSweep(page) {
  const { spec, shell } = page;
  const words = (m) => `M = ${m} ${m === 1 ? "row" : "rows"}`;
  const { m, wrong } = createCounts(page, {
    m: { largest: LARGEST_M, label: `M, rows of the input, 1 to ${LARGEST_M}`, name: "M", box: "M, exact", words },
  });
  shell.controls.append(...m, ...createDeviceChoices(page, "roofs"), wrong);
  const chart = createSweepChart(spec, page.font, { onPick: page.change, onHint: createHint(shell.stage) });
  const tiles = createTiles(shell, {
    seconds: "Time",
    bound_seconds: "Lower bound",
    flop_per_s: "Throughput",
    percent_of_roof: "Percent of the roof",
    bytes_per_s: "Achieved bandwidth",
    intensity: "Arithmetic intensity",
  });

  function show(now, v, device) {
    const precision = precisionOf(spec, now.precision);
    chart.show(now, v);
    const title = `${titleOf(device)}, ${precision.label}, N = K = ${sizeOf(spec, device, precision)}, warm`;
    const sweep = device.roofs[precision.name]?.sweep || [];
    return {
      tiles: sweepReadings(v),
      legend: [["measured", `measured (${sourceOf(spec, device)})`], ["unstable", "measured, unstable"], ["model", "model: min(F, B·I)"]],
      tables: () => [[title, ["M", "I, FLOP/byte", "time", "TFLOP/s", "GB/s", "% of roof", "remark"],
        sweep.map(([rows]) => sweepRow(sweepPoint(spec, device, precision, rows))), sweep.findIndex(([rows]) => rows === now.m)]],
    };
  }

  return { chart, tiles, table: "The sweep as a table", show, forget: chart.forget };
}

function sweepReadings(v) {
  const none = [null, v.available ? "not measured" : "no data"];
  return {
    seconds: v.measured ? [timeParts(v.seconds), v.unstable ? "measured, unstable" : "measured"] : none,
    bound_seconds: v.available ? [timeParts(v.bound_seconds), "by the model"] : none,
    flop_per_s: v.measured ? [tflopParts(v.flop_per_s), `roof ${tflops(v.attainable)}`] : none,
    percent_of_roof: v.measured ? [percentParts(v.percent_of_roof), `${v.bound}-bound`] : none,
    bytes_per_s: v.measured ? [rateParts(v.bytes_per_s), `${percent(v.percent_of_bandwidth)} of B`] : none,
    intensity: [intensityParts(v.intensity), v.available ? `ridge point ${significant(v.ridge_point, 3)}` : ""],
  };
}

const WHY = { l2: "part of the data from a cache", bandwidth: "B is a lower bound", unknown: "above the roof", unstable: "above the roof" };

function sweepRow(v) {
  const unstable = v.spread === undefined ? "unstable" : `unstable: IQR ${percent(100 * v.spread)}`;
  const doubt = v.suspect === undefined ? v.unstable && unstable : `suspect: ${v.suspect}`;
  const remarks = [doubt, WHY[v.above_roof]].filter(Boolean);
  return [String(v.m), significant(v.intensity, 3), time3(v.seconds), significant(v.flop_per_s / 1e12, 3),
    significant(v.bytes_per_s / 1e9, 3), significant(v.percent_of_roof, 3), remarks.join("; ") || "measured"];
}

register("m_sweep", {
  about: "M, precision and device",
  keys: ["m", "precision", "device"],
  compute: computeSweep,
  withRun: sweepWithRun,
  build: buildSweep,
  accept: (spec, key, text) => (key === "m" ? acceptWhole(text, LARGEST_M) : acceptName(spec, key, text)),
});
