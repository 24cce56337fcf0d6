// What a launch takes, from the copies of a run. Twin: the rules of bench.py.

import { oneProgram } from "./run.js";

const LARGEST_CPU_LINE = 2 ** 19;
const LARGEST_LINE = 2 ** 25;
/** Growth of the times below this part of them is what rounding leaves of none. */
const ROUNDING = 1e-9;

/** A kernel that moves data, by working set: the points of one program. */
export function workingSetSweep(points, kernel) {
  return oneProgram(points.filter((p) => p.kernel === kernel && p.precision === "fp32" && p.cache === "warm"))
    .filter((p) => p.workingSet)
    .sort((a, b) => a.workingSet - b.workingSet);
}

/** T = a + V/b through copies that the caches hold, squared relative errors least; undefined where there is no such line. */
export function launchLine(copies, kind, cache) {
  const most = kind === "cpu" ? LARGEST_CPU_LINE : Math.min(cache || 2 ** 24, LARGEST_LINE);
  const small = copies.filter((point) => point.workingSet <= most);
  if (new Set(small.map((point) => point.bytes)).size < 3) return undefined;
  // Each equation a + V/b = T divided by its T. V in units of their largest, so that both columns are of one size.
  const unit = Math.max(...small.map((point) => point.bytes));
  let [aa, ab, bb, ay, by] = [0, 0, 0, 0, 0];
  for (const { bytes, seconds } of small) {
    const [u, w] = [1 / seconds, bytes / unit / seconds];
    aa += u * u;
    ab += u * w;
    bb += w * w;
    ay += u;
    by += w;
  }
  const det = aa * bb - ab * ab;
  const overhead = (ay * bb - by * ab) / det;
  const slope = (aa * by - ab * ay) / det / unit;
  const span = unit - Math.min(...small.map((point) => point.bytes));
  const grows = slope * span > ROUNDING * Math.max(...small.map((point) => point.seconds));
  return grows && overhead > 0 ? { overhead, bandwidth: 1 / slope } : undefined;
}
