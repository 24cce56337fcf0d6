// What the explorer of padding says about one state. Twin: explore/kinds/padding.py.

import { intensity, listed, percent, significant, time, withArticle } from "../format.js";
import { gemm } from "../model.js";
import { sweepsOfRun } from "../run.js";
import { deviceOf, precisionOf, sizeOf } from "../spec.js";

export const MOST_ROWS = 1024;
/** F and B are measured and good to some percent: by so much a time may be shorter than its bound. */
const PADDING_MARGIN = 1.05;
/** From this share of the measured time on (percent), the padded bound accounts for it. */
const ACCOUNTS = 75;

/** M rounded up to whole blocks. */
const executedRows = (m, tile) => Math.ceil(m / tile) * tile;

/**
 * Useful and executed work of one product; what fills up a block is made on the chip, and no bytes are moved for it. A sample is
 * [m, seconds, 1, suspect]: the 1 only for an unstable or a suspect point, the last only where a check has doubts.
 */
export function paddedPoint(spec, device, precision, m, tile) {
  const n = sizeOf(spec, device, precision);
  const work = gemm(m, n, n, precision);
  const executed = executedRows(m, tile);
  const flopPerRow = work.flop / m;
  const executedFlop = flopPerRow * executed;
  const v = {
    m,
    tile,
    executed,
    flop: work.flop,
    executed_flop: executedFlop,
    useful_percent: (100 * m) / executed,
    bytes: work.bytes,
    intensity: work.intensity,
    padded_intensity: executedFlop / work.bytes,
    available: precision.name in device.roofs,
    measured: false,
  };
  if (!v.available) return v;
  const { peak, sweep } = device.roofs[precision.name];
  const { bandwidth } = device;
  const computeSeconds = executedFlop / peak;
  const memorySeconds = work.bytes / bandwidth;
  Object.assign(v, {
    peak,
    bandwidth,
    ridge_point: peak / bandwidth,
    bound_seconds: Math.max(work.flop / peak, memorySeconds),
    memory_seconds: memorySeconds,
    padded_compute_seconds: computeSeconds,
    padded_seconds: Math.max(computeSeconds, memorySeconds),
    padded_bound: memorySeconds > computeSeconds ? "memory" : "compute",
  });
  if (executed === m) v.effect = "none";
  else v.effect = v.padded_seconds > v.bound_seconds ? "costs" : "free";
  const sample = sweep.find(([rows]) => rows === m);
  if (sample === undefined) return v;
  const [, seconds, unstable, suspect] = sample;
  Object.assign(v, {
    measured: true,
    unstable: unstable === 1,
    seconds,
    percent: (100 * v.padded_seconds) / seconds,
    rows_possible: (seconds * peak) / flopPerRow,
  });
  if (suspect !== undefined) Object.assign(v, { fit: "suspect", suspect });
  else if (executed > m && computeSeconds > PADDING_MARGIN * seconds) v.fit = "ruled out";
  else if (memorySeconds > PADDING_MARGIN * seconds) v.fit = "cache";
  else v.fit = v.percent >= ACCOUNTS ? "accounts" : "partly";
  return v;
}

export function computePadding(spec, state) {
  const device = deviceOf(spec, state.device);
  const precision = precisionOf(spec, state.precision);
  const v = paddedPoint(spec, device, precision, state.m, state.tile);
  v.sentence = paddingSentence(spec, device, precision, v);
  return v;
}

function paddingSentence(spec, device, precision, v) {
  const name = precision.label;
  if (!v.available) {
    const others = spec.precisions.filter((other) => other.name in device.roofs).map((other) => other.label);
    return `${name} was not measured on the ${device.name}, so it has no ${name} roof here. Measured on it: ${listed(others)}.`;
  }
  const rows = `${v.m} ${v.m === 1 ? "row" : "rows"}`;
  const subject = `${withArticle(device.name)} in ${name}`;
  if (v.effect === "none") {
    const blocks = v.tile === 1 ? "without blocks" : `in whole blocks of ${v.tile}`;
    return `${rows} ${blocks}: ${subject} executes no row in vain. The bound is ${time(v.bound_seconds)}. ${verdict(v)}`;
  }
  const ratio = v.executed / v.m;
  const times = Number.isInteger(ratio) ? String(ratio) : significant(ratio, 2);
  const first = `${rows} in blocks of ${v.tile}: ${subject} executes ${v.executed}, ${times} times the useful work.`;
  const where = `The padded intensity is ${intensity(v.padded_intensity)}`;
  const ridge = `the ridge point (${significant(v.ridge_point, 3)})`;
  const second = v.effect === "costs"
    ? `${where}, past ${ridge}, so padding costs time: at least ${time(v.padded_seconds)} instead of ${time(v.bound_seconds)}.`
    : `${where}, left of ${ridge}, so padding costs nothing: moving the bytes takes ${time(v.memory_seconds)} in any case.`;
  return `${first} ${second} ${verdict(v)}`;
}

/** What the measured time says about this height of the blocks. */
function verdict(v) {
  if (!v.measured) return "This number of rows was not measured.";
  const took = `Measured: ${time(v.seconds)}`;
  if (v.fit === "suspect") return `${took}. Suspect: ${v.suspect}.`;
  const doubt = v.unstable ? " This point is unstable: its samples scattered." : "";
  if (v.fit === "ruled out") return `${took}, too short for ${v.executed} rows at F: the blocks of this kernel are not so high.${doubt}`;
  if (v.fit === "cache") return `${took}, less than the bytes take from memory: a cache served a part of them.${doubt}`;
  const more = v.fit === "accounts" ? "." : "; the rest has another reason.";
  return `${took}, of which this bound accounts for ${percent(v.percent)}${more}${doubt}`;
}

/** The explorer with the machine of a run file, which is chosen, and a precision that it has. */
export function paddingWithRun(spec, run, file, state) {
  const { common, roofs, precision } = sweepsOfRun(spec, run, file, state);
  for (const roof of Object.values(roofs)) {
    roof.sweep = roof.sweep.filter(([m]) => m <= MOST_ROWS)
      .map(([m, seconds, spread, suspect]) => [m, seconds, ...(spread !== 0 || suspect ? [1] : []), ...(suspect ? [suspect] : [])]);
  }
  return { spec: { ...spec, devices: [...spec.devices, { ...common, roofs }] }, state: { ...state, device: common.key, precision } };
}

/** The shortest and the longest time of an own device in the chart: its bounds and what it measured. */
export function paddingTimes(spec, device) {
  return Object.entries(device.roofs).flatMap(([name, { sweep }]) => [
    ...sweep.map(([, seconds]) => seconds),
    ...[1, MOST_ROWS].map((m) => paddedPoint(spec, device, precisionOf(spec, name), m, 1).bound_seconds)]);
}
