// What the main explorer says about one state, as numbers and as a sentence. Twin: explore/kinds/m_sweep.py.

import { bytes, flop, listed, percent, rate, tflops, time, withArticle } from "../format.js";
import { attainable, gemm, rowsAtIntensity, timeBounds } from "../model.js";
import { sweepsOfRun } from "../run.js";
import { deviceOf, precisionOf, sizeOf } from "../spec.js";

export const LARGEST_M = 8192;

/** From this percentage on a point counts as above the roof; less is rounding. */
const ABOVE = 100.5;
/** B is a lower bound good to 2 to 5 %: a memory-bound point may stand above the slope by as much. */
const BANDWIDTH_MARGIN = 105;
/** Bytes up to this multiple of the L2 can, when the kernel is repeated, come partly from it. */
const L2_REACH = 1.1;

/**
 * Everything about one product of the sweep. A sample is [m, seconds, spread, suspect]: a spread of 0 is that of a stable point,
 * one of -1 not known; the last is there only if a check has doubts.
 */
export function sweepPoint(spec, device, precision, m) {
  const n = sizeOf(spec, device, precision);
  const work = gemm(m, n, n, precision);
  const values = { m, flop: work.flop, bytes: work.bytes, intensity: work.intensity, available: false, measured: false };
  const roof = device.roofs[precision.name];
  if (roof === undefined) return values;

  const { peak, sweep } = roof;
  const bandwidth = device.bandwidth;
  const limits = timeBounds(work.flop, work.bytes, peak, bandwidth);
  Object.assign(values, {
    available: true,
    peak,
    bandwidth,
    ridge_point: peak / bandwidth,
    attainable: attainable(work.intensity, peak, bandwidth),
    compute_seconds: limits.computeSeconds,
    memory_seconds: limits.memorySeconds,
    bound_seconds: limits.seconds,
    bound: limits.bound,
  });
  const sample = sweep.find(([rows]) => rows === m);
  if (sample === undefined) return values;

  const [, seconds, spread, suspect] = sample;
  const throughput = work.flop / seconds;
  Object.assign(values, {
    measured: true,
    unstable: spread !== 0 || suspect !== undefined,
    seconds,
    flop_per_s: throughput,
    bytes_per_s: work.bytes / seconds,
    percent_of_bandwidth: (100 * (work.bytes / seconds)) / bandwidth,
    percent_of_roof: (100 * throughput) / values.attainable,
  });
  if (spread > 0) values.spread = spread;
  if (suspect !== undefined) values.suspect = suspect;
  values.above_roof = whyAboveRoof(values, device.l2_bytes);
  return values;
}

/** A reason only where the data allow one: "" for a point under the roof, "unknown" where they do not. */
function whyAboveRoof(values, l2Bytes) {
  if (values.percent_of_roof < ABOVE) return "";
  if (values.bound === "memory" && values.bytes <= L2_REACH * l2Bytes) return "l2";
  if (values.unstable) return "unstable";
  if (values.bound === "memory" && values.percent_of_roof <= BANDWIDTH_MARGIN) return "bandwidth";
  return "unknown";
}

export function computeSweep(spec, state) {
  const device = deviceOf(spec, state.device);
  const precision = precisionOf(spec, state.precision);
  const values = sweepPoint(spec, device, precision, state.m);
  if (values.available) {
    const n = sizeOf(spec, device, precision);
    const rows = rowsAtIntensity(values.ridge_point, n, n, precision, LARGEST_M);
    if (rows !== null) values.ridge_m = rows;
  }
  values.sentence = sentence(spec, device, precision, values);
  return values;
}

function sentence(spec, device, precision, v) {
  const name = precision.label;
  if (!v.available) {
    const others = spec.precisions.filter((other) => other.name in device.roofs).map((other) => other.label);
    return `${name} was not measured on the ${device.name}, so it has no ${name} roof here. `
      + `Measured on it: ${listed(others)}.`;
  }
  const n = sizeOf(spec, device, precision);
  const size = n === spec.n ? "" : ` and N = K = ${n}`;
  const subject = `At M = ${v.m}${size} ${withArticle(device.name)} in ${name} takes`;
  const arithmetic = time(v.compute_seconds);
  const traffic = time(v.memory_seconds);
  // A point above the roof took less than the model's least time: then the model's number is only a calculation.
  const above = v.measured && v.above_roof !== "";
  const parts = [
    v.measured
      ? `${subject} ${time(v.seconds)}: ${v.bound}-bound.`
      : `${subject} at least ${time(v.bound_seconds)} (not measured; the model's lower bound): ${v.bound}-bound.`,
    v.bound === "memory"
      ? `Moving ${bytes(v.bytes)} at ${rate(v.bandwidth)} ${above ? `would take ${traffic} by the model` : `takes at least ${traffic}`}; `
        + `the arithmetic alone would take ${arithmetic}.`
      : `${flop(v.flop)} at ${tflops(v.peak)} ${above ? `would take ${arithmetic} by the model` : `take at least ${arithmetic}`}; `
        + `moving the ${bytes(v.bytes)} alone would take ${traffic}.`,
  ];
  const remark = remarkOn(device, v);
  if (remark !== "") parts.push(remark);
  return parts.join(" ");
}

/** What a reader should know before trusting the point: why it is above the roof, far below it, or unsteady. */
function remarkOn(device, v) {
  if (!v.measured) return "";
  if (v.suspect !== undefined) return `Suspect: ${v.suspect}.`;
  const spread = v.spread === undefined ? "The run was unstable." : `The run was unstable: its interquartile range was ${percent(100 * v.spread)} of the median.`;
  const unsteady = v.unstable ? spread : "";
  const own = "own" in device;
  if (v.above_roof === "l2") {
    const cache = bytes(device.l2_bytes);
    const level = own ? "last-level cache" : "L2 cache";
    const fit = v.bytes <= device.l2_bytes ? `fit in the ${level} (${cache})` : `are about as many as the ${level} holds (${cache})`;
    return `That is ${percent(v.percent_of_roof)} of the roof: the ${bytes(v.bytes)} ${fit}, `
      + "so a repeated run can read part of them from there instead of memory.";
  }
  if (v.above_roof === "unstable") {
    return `${unsteady} So it did not set the peak, and it stands at ${percent(v.percent_of_roof)} of the roof that steadier points set.`;
  }
  if (v.above_roof === "bandwidth") {
    return `That is a little above the roof (${percent(v.percent_of_roof)}): B is a measured lower bound${own ? "" : ", good to 2 to 5\u00a0%"}.`;
  }
  if (v.above_roof === "unknown") return `That is ${percent(v.percent_of_roof)} of the roof; these data do not say why.`;
  if (unsteady !== "") return unsteady;
  if (v.percent_of_roof < 50) {
    return `At ${percent(v.percent_of_roof)} of the roof, most of the time goes to something that neither bound counts.`;
  }
  return "";
}

/** The explorer with the machine of a run file, which is chosen, and a precision that it has. */
export function sweepWithRun(spec, run, file, state) {
  const { common, l2, roofs, precision } = sweepsOfRun(spec, run, file, state);
  return {
    spec: { ...spec, devices: [...spec.devices, { ...common, l2_bytes: l2, roofs }] },
    state: { ...state, device: common.key, precision },
  };
}
