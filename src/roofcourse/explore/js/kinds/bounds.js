// The explorer of chapter 1: a kernel's work W and traffic Q on a device give two least times; the longer one bounds it.

import { createDecades, createDeviceChoices, createPresets } from "../controls.js";
import { html, write } from "../dom.js";
import { bytes, flop, inPowers, intensityParts, rate, tflops, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { peaksWithRun } from "../run.js";
import { createTiles } from "../shell.js";
import { acceptName, acceptWithin, precisionOf, sourceOf, titleOf } from "../spec.js";
import { createBoundsChart } from "./bounds_chart.js";
import { computeBounds } from "./bounds_model.js";

const RANGES = { flop: [1e6, 1e15], bytes: [1e3, 1e12] };

function buildBounds(page) {
  const { spec, shell } = page;
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(
    createPresets(page, "kernel", "Try a kernel", "your own W and Q", spec.kernels, ["flop", "bytes", "precision"]),
    ...createDeviceChoices(page, "peaks"),
    createDecades(page, "flop", "Work W", "W", RANGES.flop, flop),
    createDecades(page, "bytes", "Traffic Q", "Q", RANGES.bytes, bytes),
  );
  const chart = createBoundsChart(page.font);
  const tiles = createTiles(shell, { bound_seconds: "Lower bound of T", intensity: "The kernel's W/Q", ridge_point: "The device's F/B" });
  const sign = html("div", { class: "rc-sign", "aria-hidden": "true" });
  shell.tiles.lastChild.append(sign);

  function readings(v) {
    const side = { memory: "smaller than F/B", compute: "larger than F/B", balanced: "equal to F/B within 1\u00a0%" };
    return {
      bound_seconds: v.available
        ? [timeParts(v.bound_seconds), `the longer of ${time3(v.compute_seconds)} and ${time3(v.memory_seconds)}`] : [null, "F unknown"],
      intensity: [{ number: inPowers(v.intensity, 3), unit: "FLOP/byte" }, side[v.bound] || ""],
      ridge_point: v.available ? [intensityParts(v.ridge_point), "the ridge point"] : [null, "F unknown"],
    };
  }

  function show(now, v, device) {
    chart.show(v);
    write(sign, { memory: "<", compute: ">", balanced: "≈" }[v.bound] || "");
    const title = `${titleOf(device)}, ${precisionOf(spec, now.precision).label}: the longer of the two times bounds the kernel`;
    return {
      tiles: readings(v),
      legend: `F (matrix products) and B measured (${sourceOf(spec, device)}); the times are the model's lower bounds`,
      tables: () => [[title, ["part", "amount", "at most", "least time"], [
        ["work W", flop(v.flop), ...(v.available ? [tflops(v.peak), time3(v.compute_seconds)] : ["not measured", "–"])],
        ["traffic Q", bytes(v.bytes), rate(v.bandwidth), time3(v.memory_seconds)],
      ]]],
    };
  }

  return { chart, tiles, table: "The two bounds as a table", show };
}

register("bounds", {
  about: "work, traffic, precision and device",
  keys: ["flop", "bytes", "precision", "device"],
  compute: computeBounds,
  withRun: peaksWithRun,
  build: buildBounds,
  accept: (spec, key, text) => (key in RANGES ? acceptWithin(text, RANGES[key]) : acceptName(spec, key, text)),
});
