// What the explorer of chapter 4 says about one state. Twin: explore/kinds/measurement.py.

import { percent, rate, tflops, time, withArticle } from "../format.js";
import { deviceOf } from "../spec.js";

/** From this multiple of the L2 on, hardly anything of one pass is left in it for the next. */
const PAST_CACHE = 4;
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
  const points = device.series[kernel];
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

function measurementSentence(spec, device, kernel, v) {
  const { words } = spec.kernels.find(({ name }) => name === kernel);
  const on = `On ${withArticle(device.name)}`;
  const took = time(v.seconds);
  const share = percent(v.percent_of_b);
  const doubt = v.unstable ? " This point is unstable: its samples scattered." : "";
  if (!isFma(kernel)) {
    const cacheSize = binarySize(v.l2);
    const why = {
      launch: `A launch alone takes about ${time(v.launch_seconds)}: that is what was timed here.`,
      l2: `The arrays fit into the L2 (${cacheSize}): this is not yet memory bandwidth.`,
      partly: `The arrays are less than ${PAST_CACHE} times the L2 (${cacheSize}): it may still serve a part.`,
      memory: `The arrays are far larger than the L2 (${cacheSize}): this is memory bandwidth.`,
    }[v.region];
    return `${on}, a ${words} with a working set of ${binarySize(v.working_set)} takes ${took}: `
      + `${rate(v.bytes_per_s)}, ${share} of B. ${why}${doubt}`;
  }
  const limit = v.bound === "memory" ? "slope" : "flat roof";
  return `${on} in ${words}, R = ${v.r} multiply-adds a number take ${took}: ${tflops(v.flop_per_s)}, `
    + `${percent(v.percent_of_roof)} of the roof, which is the ${limit} here. `
    + `The bytes moved at ${rate(v.bytes_per_s)}, ${share} of B.${doubt}`;
}
