// What the explorer of chapter 1 says about one state. Twin: explore/kinds/bounds.py.

import { bytes, flop, inPowers, listed, rate, tflops, time, withArticle } from "../format.js";
import { timeBounds } from "../model.js";
import { deviceOf, precisionOf } from "../spec.js";

/** Two times within this fraction of each other are called equal. */
const BALANCE = 0.01;

export function computeBounds(spec, state) {
  const device = deviceOf(spec, state.device);
  const precision = precisionOf(spec, state.precision);
  const peak = device.peaks[precision.name];
  const { bandwidth } = device;
  const v = { flop: state.flop, bytes: state.bytes, intensity: state.flop / state.bytes, bandwidth, available: peak !== undefined };
  if (!v.available) {
    v.memory_seconds = state.bytes / bandwidth;
  } else {
    const limits = timeBounds(state.flop, state.bytes, peak, bandwidth);
    const ratio = limits.memorySeconds / limits.computeSeconds;
    Object.assign(v, {
      peak,
      ridge_point: peak / bandwidth,
      compute_seconds: limits.computeSeconds,
      memory_seconds: limits.memorySeconds,
      bound_seconds: limits.seconds,
      bound: Math.abs(ratio - 1) <= BALANCE ? "balanced" : limits.bound,
      factor: Math.max(ratio, 1 / ratio),
    });
  }
  v.sentence = boundsSentence(spec, device, precision, v);
  return v;
}

function boundsSentence(spec, device, precision, v) {
  const name = precision.label;
  const moving = `moving ${bytes(v.bytes)} at ${rate(v.bandwidth)} takes at least ${time(v.memory_seconds)}`;
  if (!v.available) {
    const others = spec.precisions.filter((other) => other.name in device.peaks).map((other) => other.label);
    return `${name} was not measured on the ${device.name}, so its F is unknown here; ${moving}. Measured on it: ${listed(others)}.`;
  }
  const facts = `On ${withArticle(device.name)} in ${name}, ${flop(v.flop)} at ${tflops(v.peak)} take at least `
    + `${time(v.compute_seconds)}; ${moving}.`;
  const least = `T\u00a0≥\u00a0${time(v.bound_seconds)}`;
  if (v.bound === "balanced") return `${facts} Both take the same time, within 1\u00a0%. Balanced, at the ridge point: ${least}.`;
  const longer = v.bound === "memory" ? "The bytes take" : "The arithmetic takes";
  return `${facts} ${longer} ${inPowers(v.factor, v.factor < 10 ? 3 : 2)} times as long. Hence ${v.bound}-bound: ${least}.`;
}
