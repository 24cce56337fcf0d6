// The explorer of chapter 7: M useful rows in a kernel that works in blocks of rows, and what the rest of a block costs.

import { createChoice, createDeviceChoices } from "../controls.js";
import { acceptWhole, createCounts } from "../counts.js";
import { intensityParts, percent, percentParts, significant, time, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { createTiles } from "../shell.js";
import { acceptName, labelOf, precisionOf, sizeOf, sourceOf, titleOf } from "../spec.js";
import { createPaddingChart } from "./padding_chart.js";
import { MOST_ROWS, computePadding, paddedPoint, paddingWithRun } from "./padding_model.js";

function buildPadding(page) {
  const { spec, shell } = page;
  const words = (m) => `M = ${m} ${m === 1 ? "row" : "rows"}`;
  const { m, wrong } = createCounts(page, {
    m: { largest: MOST_ROWS, label: `M, useful rows, 1 to ${MOST_ROWS}`, name: "M", box: "M, exact", words },
  });
  shell.controls.classList.add("rc-padding");
  shell.controls.append(
    ...m,
    createChoice(page, "tile", "Block", spec.tiles.map((rows) => [rows, rows === 1 ? "no blocks" : `${rows} rows`])),
    ...createDeviceChoices(page, "roofs"),
    wrong,
  );
  const chart = createPaddingChart(page.font, spec);
  const tiles = createTiles(shell, {
    executed: "Executed rows",
    useful_percent: "Useful work",
    padded_intensity: "Padded intensity",
    padded_seconds: "Padded bound",
    seconds: "Measured time",
    rows_possible: "Rows possible",
  });

  function show(now, v, device) {
    const format = precisionOf(spec, now.precision);
    const sweep = device.roofs[format.name]?.sweep || [];
    const size = sizeOf(spec, device, format);
    const at = (rows) => paddedPoint(spec, device, format, rows, now.tile);
    chart.show(v, at, sweep, `${format.label} on the ${labelOf(device)}`);
    return {
      tiles: paddingReadings(v),
      legend: [["measured", `measured (${sourceOf(spec, device)}${"own" in device ? `, N = K = ${size}` : ""})`],
        ["model", "padded bound: max(executed W/F, Q/B)"]],
      tables: () => [[`${titleOf(device)}, ${format.label}, blocks of ${now.tile}, N = K = ${size}, warm`,
        ["M", "executed", "padded I", "padded bound", "measured", "bound of measured"],
        sweep.map(([rows]) => paddingRow(at(rows))), sweep.findIndex(([rows]) => rows === now.m)]],
    };
  }

  return { chart, tiles, table: "The measured rows as a table", show };
}

function paddingReadings(v) {
  const none = [null, v.available ? "not measured" : "no data"];
  const doubt = v.suspect ? "suspect; " : v.unstable ? "unstable; " : "";
  return {
    executed: [{ number: String(v.executed), unit: v.executed === 1 ? "row" : "rows" }, `useful: ${v.m}`],
    useful_percent: [percentParts(v.useful_percent), "of the executed work"],
    padded_intensity: [intensityParts(v.padded_intensity), v.available ? `ridge point ${significant(v.ridge_point, 3)}` : ""],
    padded_seconds: v.available ? [timeParts(v.padded_seconds), `without padding ${time(v.bound_seconds)}`] : none,
    seconds: v.measured ? [timeParts(v.seconds), `${doubt}bound: ${percent(v.percent)} of it`] : none,
    rows_possible: v.measured ? [{ number: significant(v.rows_possible, 3), unit: "rows" }, "in the measured time, at F"] : none,
  };
}

/** What was measured, beside the padded bound. */
function paddingRow(v) {
  const doubt = v.suspect ? ", suspect" : v.unstable ? ", unstable" : "";
  return [String(v.m), String(v.executed), significant(v.padded_intensity, 3), time3(v.padded_seconds),
    `${time3(v.seconds)}${doubt}`, percent(v.percent)];
}

register("padding", {
  about: "rows, block, precision and device",
  keys: ["m", "tile", "precision", "device"],
  compute: computePadding,
  withRun: paddingWithRun,
  build: buildPadding,
  accept(spec, key, text) {
    if (key === "m") return acceptWhole(text, MOST_ROWS);
    if (key === "tile") return /^\d+$/.test(text) && spec.tiles.includes(Number(text)) ? Number(text) : undefined;
    return acceptName(spec, key, text);
  },
});
