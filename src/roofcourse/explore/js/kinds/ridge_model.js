// What the explorer of chapter 3 says about one state. Twin: explore/kinds/ridge.py.

import { intensity, listed, percent, significant, tflops } from "../format.js";
import { attainable } from "../model.js";
import { deviceOfRun } from "../run.js";
import { deviceOf, precisionOf } from "../spec.js";

export const MARGIN = 5; // percent on top of what the sources differ by
export const MOST_ROOFS = 12;

/** A roof by its name, "h100.fp32.vector"; undefined where there is none. */
export function roofOf(spec, name) {
  const [key, ...rest] = name.split(".");
  const device = deviceOf(spec, key);
  const path = rest.join(".");
  if (device === undefined || !Object.hasOwn(device.roofs, path)) return undefined;
  const [peak, low, high] = device.roofs[path];
  const label = precisionOf(spec, rest[0]).label + (rest.length > 1 ? " vector" : "");
  return { name, device, path, label, title: `${device.name} ${label}`, peak, low, high, bandwidth: device.bandwidth, ridge: peak / device.bandwidth };
}

export const roofsOf = (spec, names) => names.split("~").map((name) => roofOf(spec, name));

/** Where the roofs (peak, bandwidth) cross; undefined where they do not. */
export function crossingOf(peakA, bandwidthA, peakB, bandwidthB) {
  if (bandwidthA < bandwidthB) return crossingOf(peakB, bandwidthB, peakA, bandwidthA);
  return bandwidthA === bandwidthB || peakA >= peakB ? undefined : peakA / bandwidthB;
}

export function computeRidge(spec, state) {
  const at = state.intensity;
  const rows = roofsOf(spec, state.roofs).map((roof) => ({
    ...roof,
    at: attainable(at, roof.peak, roof.bandwidth),
    bound: roof.bandwidth * at < roof.peak ? "memory" : "compute",
    lowAt: attainable(at, roof.low, roof.bandwidth),
    highAt: attainable(at, roof.high, roof.bandwidth),
  }));
  const highest = (list) => list.reduce((best, row) => (row.at > best.at ? row : best));
  const v = { intensity: at, count: rows.length };
  for (const row of rows) {
    v[`ridge_point:${row.name}`] = row.ridge;
    v[`attainable:${row.name}`] = row.at;
    v[`low:${row.name}`] = row.lowAt;
    v[`high:${row.name}`] = row.highAt;
    v[`bound:${row.name}`] = row.bound;
  }
  const first = highest(rows);
  Object.assign(v, { highest: first.name, attainable: first.at, bound: first.bound, ridge_point: first.ridge });
  const others = rows.filter((row) => row !== first);
  const rivals = others.filter((row) => row.highAt * (1 + MARGIN / 100) >= first.lowAt);
  v.verdict = others.length === 0 ? "alone" : rivals.length > 0 ? "equal" : "higher";
  const second = others.length === 0 ? undefined : highest(rivals.length > 0 ? rivals : others);
  if (second !== undefined) {
    Object.assign(v, { next: second.name, percent_above: 100 * (first.at / second.at - 1), equal_count: rivals.length });
    const oneSlope = (row) => row.device === first.device && first.bound === "memory" && row.bound === "memory";
    if (rivals.length > 0 && rivals.every(oneSlope)) v.verdict = "same";
    Object.assign(v, crossings(first, second));
  }
  v.sentence = ridgeSentence(v, first, second, rivals);
  return v;
}

/** Where two roofs cross, and from where to where with the other values of F; a key that does not apply is left out. */
function crossings(first, second) {
  const out = {};
  const where = crossingOf(first.peak, first.bandwidth, second.peak, second.bandwidth);
  if (where !== undefined) out.crossing = where;
  const found = [first.low, first.high].flatMap((f) => [second.low, second.high].map((g) => crossingOf(f, first.bandwidth, g, second.bandwidth)));
  const cross = found.filter((x) => x !== undefined);
  if (cross.length > 0) out.crossing_first = Math.min(...cross);
  if (cross.length > 0 && cross.length === found.length) out.crossing_last = Math.max(...cross);
  return out;
}

const bound = (row) => `${row.bound}-bound`;

function ridgeSentence(v, first, second, rivals) {
  const place = `At I\u00a0=\u00a0${intensity(v.intensity)}`;
  const top = tflops(first.at);
  if (second === undefined) {
    return `${place} the roof of the ${first.title} is at ${top}: ${bound(first)}, ${first.bound === "memory" ? "left" : "right"} of its ridge point, ${intensity(first.ridge)}.`;
  }
  if (v.verdict === "same") {
    const labels = listed([first, ...rivals].map((row) => row.label));
    return `${place} the roofs of the ${first.device.name} in ${labels} are one slope, ${top}: its B decides.`;
  }
  if (v.verdict === "higher") {
    const why = first.bound === second.bound
      ? `Both are ${bound(first)} there, so ${first.bound === "memory" ? "B" : "F"} decides.`
      : `The first is ${bound(first)} there, the second ${bound(second)}.`;
    return `${place} the ${first.title} has the highest roof, ${top}: ${percent(v.percent_above)} above the ${second.title}, more than the uncertainty. ${why}`;
  }
  if (rivals.length === 1) {
    return `${place} the ${first.title}, ${top}, and the ${second.title} are equal within the uncertainty: they differ by ${percent(v.percent_above)}.`
      + measuredRange(second) + measuredRange(first);
  }
  return `${place} the ${first.title} has the highest roof, ${top}, but equal to it within the uncertainty are: ${listed(rivals.map((row) => row.title))}.`;
}

function measuredRange(row) {
  const [low, high] = [row.low, row.high].map((f) => significant(f / 1e12, 3));
  return low === high ? "" : ` F of the ${row.title} was measured from ${low} to ${high}\u00a0TFLOP/s.`;
}

/** The explorer with the machine of a run file, its roofs beside those that are chosen, as many as fit. */
export function ridgeWithRun(spec, run, file, state) {
  const { common, ceilings } = deviceOfRun(spec, run, file);
  const roofs = Object.fromEntries(ceilings.map(({ precision, path, peak }) => [precision + (path === "vector" ? ".vector" : ""), [peak, peak, peak]]));
  const fresh = Object.keys(roofs).map((path) => `${common.key}.${path}`).slice(0, MOST_ROOFS);
  const chosen = state.roofs.split("~").slice(0, MOST_ROOFS - fresh.length);
  return {
    spec: { ...spec, devices: [...spec.devices, { ...common, roofs }] },
    state: { ...state, roofs: [...chosen, ...fresh].join("~") },
  };
}
