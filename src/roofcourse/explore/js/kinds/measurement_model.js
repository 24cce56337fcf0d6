// What the explorer of chapter 4 says about one state. Twin: explore/kinds/measurement.py.

import { listed, percent, rate, tflops, time, withArticle } from "../format.js";
import { launchLine, workingSetSweep } from "../launch.js";
import { deviceOfRun } from "../run.js";
import { deviceOf } from "../spec.js";

/** From this multiple of the L2 on, hardly anything of one pass is left in it for the next. */
const PAST_CACHE = 8;
/** The launch is what is timed where it takes more than this part of the time. */
const MOSTLY = 0.5;

/** "64 KiB", "512 MiB": whole numbers, halves rounded up. */
export function binarySize(value) {
  const [unit, name] = value >= 2 ** 20 ? [2 ** 20, "MiB"] : [2 ** 10, "KiB"];
  return `${Math.floor(value / unit + 0.5)}\u00a0${name}`;
}

export const isFma = (kernel) => kernel.startsWith("fma");

export function computeMeasurement(spec, state) {
  const device = deviceOf(spec, state.device);
  const { kernel } = state;
  const { bandwidth, l2, launch } = device;
  const points = device.series[kernel] || [];
  if (points.length === 0) return { number: 0, points: 0, bandwidth, sentence: absentSentence(spec, device, kernel) };
  const number = Math.min(state.point, points.length); // a shorter series ends before this one did
  const [at, flop, bytes, seconds, unstable] = points[number - 1];
  const v = {
    number,
    points: points.length,
    bytes,
    seconds,
    bytes_per_s: bytes / seconds,
    bandwidth,
    percent_of_b: (100 * bytes) / seconds / bandwidth,
    unstable: unstable === 1,
  };
  if (!isFma(kernel)) {
    Object.assign(v, { working_set: at, l2, launch_seconds: launch, percent_launch: 100 * Math.min(1, launch / seconds) });
    if (launch / seconds > MOSTLY) v.region = "launch";
    else if (at <= l2) v.region = "l2";
    else v.region = at >= PAST_CACHE * l2 ? "memory" : "partly";
  } else {
    const peak = device.peaks[kernel];
    const intensity = flop / bytes;
    const roof = Math.min(peak, bandwidth * intensity);
    Object.assign(v, {
      r: at,
      intensity,
      peak,
      flop_per_s: flop / seconds,
      attainable: roof,
      percent_of_roof: (100 * flop) / seconds / roof,
      ridge_r: (at * peak) / bandwidth / intensity,
      bound: bandwidth * intensity < peak ? "memory" : "compute",
    });
  }
  v.sentence = measurementSentence(spec, device, kernel, v);
  return v;
}

function absentSentence(spec, device, kernel) {
  const have = spec.kernels.filter(({ name }) => name in device.series).map(({ label }) => label);
  const { label } = spec.kernels.find(({ name }) => name === kernel);
  return `This run of ${withArticle(device.name)} has no ${label}. It has: ${listed(have)}.`;
}

function measurementSentence(spec, device, kernel, v) {
  const level = "own" in device ? "last-level cache" : "L2";
  const { words } = spec.kernels.find(({ name }) => name === kernel);
  const on = `On ${withArticle(device.name)}`;
  const took = time(v.seconds);
  const share = percent(v.percent_of_b);
  const doubt = v.unstable ? " This point is unstable: its samples scattered." : "";
  if (!isFma(kernel)) {
    const cacheSize = binarySize(v.l2);
    const why = {
      launch: `A launch alone takes about ${time(v.launch_seconds)}: that is what was timed here.`,
      l2: `The arrays fit into the ${level} (${cacheSize}): this is not yet memory bandwidth.`,
      partly: `The arrays are less than ${PAST_CACHE} times the ${level} (${cacheSize}): it may still serve a part.`,
      memory: `The arrays are far larger than the ${level} (${cacheSize}): this is memory bandwidth.`,
    }[v.region];
    return `${on}, ${words} with a working set of ${binarySize(v.working_set)} takes ${took}: `
      + `${rate(v.bytes_per_s)}, ${share} of B. ${why}${doubt}`;
  }
  const limit = v.bound === "memory" ? "slope" : "flat part";
  return `${on} in ${words}, R = ${v.r} multiply-adds a number take ${took}: ${tflops(v.flop_per_s)}, `
    + `${percent(v.percent_of_roof)} of the roof, which is the ${limit} here. `
    + `The bytes moved at ${rate(v.bytes_per_s)}, ${share} of B.${doubt}`;
}

const POINTS = 24;

/** The explorer with the machine of a run file, which is chosen, and a kernel that it has. */
export function measurementWithRun(spec, run, file, state) {
  const { common, ceilings, l2 } = deviceOfRun(spec, run, file);
  const pointOf = (at, { flop, bytes, seconds, stable, suspect }) => [at, flop, bytes, seconds, suspect || !stable ? 1 : 0];
  const series = {};
  const peaks = {};
  let copies = [];
  for (const { name } of spec.kernels.filter((kernel) => !isFma(kernel.name))) {
    const found = workingSetSweep(run.points, name);
    if (name === "copy") copies = found;
    if (found.length > 0) series[name] = found.map((p) => pointOf(p.workingSet, p)).slice(0, POINTS);
  }
  for (const precision of ["fp32", "fp64"]) {
    const found = run.points.filter((p) => p.kernel === "fma" && p.precision === precision).sort((a, b) => a.fma_per_element - b.fma_per_element);
    const roof = ceilings.find((c) => c.path === "vector" && c.precision === precision);
    if (found.length === 0 || roof === undefined) continue;
    series[`fma_${precision}`] = found.map((p) => pointOf(p.fma_per_element, p)).slice(0, POINTS);
    peaks[`fma_${precision}`] = roof.peak;
  }
  const names = Object.keys(series);
  if (names.length === 0) throw new Error(`${common.name}: this run has none of these kernels: measure with --only bandwidth,working-set,fma`);
  const line = launchLine(copies, run.machine.key, l2);
  const device = { ...common, l2, launch: line ? line.overhead : 0, launch_bandwidth: line ? line.bandwidth : common.bandwidth, peaks, series };
  return {
    spec: { ...spec, devices: [...spec.devices, device] },
    state: { ...state, device: common.key, kernel: names.includes(state.kernel) ? state.kernel : names[0] },
  };
}
