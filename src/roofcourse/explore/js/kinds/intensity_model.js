// What the explorer of chapter 2 says about one state. Twin: explore/kinds/intensity.py.

import { bytes, flop, intensity, listed, percent3, withArticle } from "../format.js";
import { gemm } from "../model.js";
import { deviceOf, precisionOf } from "../spec.js";

/** An intensity within this fraction of the ridge point is called equal to it. */
const NEAR = 0.01;
export const LARGEST_SIZE = 16384;
export const PARTS = { x: "X", a: "A", y: "Y", scales: "the block scales" };

/** Bytes of X, A, Y and the block scales; gemm() of model.js has their sum. */
function partsOf(m, n, k, precision) {
  const [x, a, y] = [m * k, k * n, m * n];
  if (precision.name === "fp8_e4m3") return { x, a, y: 2 * y, scales: 8 };
  if (precision.name === "nvfp4") return { x: 0.5 * x, a: 0.5 * a, y: 2 * y, scales: (Math.ceil(m / 128) * 128 * k + a) / 16 };
  const s = precision.bytes;
  return { x: s * x, a: s * a, y: s * y, scales: 0 };
}

export function computeIntensity(spec, state) {
  const device = deviceOf(spec, state.device);
  const precision = precisionOf(spec, state.precision);
  const { m, n, k } = state;
  const v = { m, n, k, ...gemm(m, n, k, precision) };
  const moved = partsOf(m, n, k, precision);
  v.largest = "x";
  for (const [part, size] of Object.entries(moved)) {
    v[`bytes_${part}`] = size;
    v[`percent_${part}`] = (100 * size) / v.bytes;
    if (size > moved[v.largest]) v.largest = part;
  }
  v.available = precision.name in device.peaks;
  if (v.available) {
    v.ridge_point = device.peaks[precision.name] / device.bandwidth;
    const ratio = v.intensity / v.ridge_point;
    v.bound = Math.abs(ratio - 1) <= NEAR ? "balanced" : ratio < 1 ? "memory" : "compute";
  }
  v.sentence = intensitySentence(device, precision, v);
  return v;
}

function intensitySentence(device, precision, v) {
  const name = precision.label;
  const { m, n, k } = v;
  const first = `X (${m} × ${k}) times A (${k} × ${n}) in ${name} is ${flop(v.flop)} and moves ${bytes(v.bytes)}: `
    + `I\u00a0=\u00a0${intensity(v.intensity)}.`;
  const share = percent3(v[`percent_${v.largest}`]);
  const same = Object.keys(PARTS).filter((part) => v[`bytes_${part}`] === v[`bytes_${v.largest}`]);
  const capital = (text) => text[0].toUpperCase() + text.slice(1);
  const second = same.length > 1
    ? `${listed(same.map((part) => PARTS[part]))} take ${share} of the traffic each.`
    : `${capital(PARTS[v.largest])} ${v.largest === "scales" ? "take" : "takes"} ${share} of the traffic.`;
  if (!v.available) return `${first} ${second} ${name} was not measured on the ${device.name}, so it has no ${name} ridge point here.`;
  const asks = capital(`${withArticle(device.name)} asks for ${intensity(v.ridge_point)} in ${name}`);
  const verdict = v.bound === "balanced" ? "the same within 1\u00a0%, balanced" : `${v.bound}-bound there`;
  return `${first} ${second} ${asks}: ${verdict}.`;
}
