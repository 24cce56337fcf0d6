// What the explorer of chapter 8 says about one state. Twin: explore/kinds/levers.py.

import { listed, percent, significant, time3, withArticle } from "../format.js";
import { launchLine, workingSetSweep } from "../launch.js";
import { deviceOfRun } from "../run.js";
import { deviceOf } from "../spec.js";

const WORTH_A_LEVER = 1.05; // a gain below this factor is called none
const MOSTLY_LAUNCHES = 0.5; // of the time: then the launches are the bound
export const LEVER_REACHES = [100, 50, 25];

const leverStart = (spec, name) => spec.kernels.find((kernel) => kernel.name === name);
export const leverOf = (spec, name) => spec.levers.find((lever) => lever.name === name);

/** The roof that a kernel needs before anything is done. */
const firstPath = (start) => start.rows[""][3];

/** Where a kernel stands on a card: its time by the model and its point; null if the card lacks the path. */
function leverPlace(card, [flop, bytes, launches, path], reaches) {
  if (!Object.hasOwn(card.peaks, path)) return null;
  const peak = card.peaks[path];
  const start = launches * card.launch;
  const least = Math.max(flop / peak, bytes / card.bandwidth);
  const seconds = start + (least * 100) / reaches;
  return {
    flop, bytes, intensity: flop / bytes, seconds, flop_per_s: flop / seconds, percent: (100 * least) / seconds,
    bound: start > MOSTLY_LAUNCHES * seconds ? "launch" : bytes / card.bandwidth > flop / peak ? "memory" : "compute", path, peak,
  };
}

export function chosenOf(spec, state) {
  const own = leverStart(spec, state.kernel).levers;
  return state.levers.split("~").filter((lever) => own.includes(lever));
}

function leverPlaceWith(card, start, done, reaches) {
  const key = start.levers.filter((lever) => done.includes(lever) && lever !== "better").join("~");
  return leverPlace(card, start.rows[key], done.includes("better") ? 100 : reaches);
}

/**
 * The places of a kernel: before, and after each of the chosen levers that it has, in their order. Without the first one there
 * is nothing to compare with, and all are null.
 */
export function walkLevers(spec, state) {
  const start = leverStart(spec, state.kernel);
  const card = deviceOf(spec, state.device);
  const chosen = chosenOf(spec, state);
  const before = leverPlace(card, start.rows[""], state.reaches);
  return [before, ...chosen.map((_, i) => before && leverPlaceWith(card, start, chosen.slice(0, i + 1), state.reaches))];
}

export function computeLevers(spec, state) {
  const start = leverStart(spec, state.kernel);
  const card = deviceOf(spec, state.device);
  const chosen = chosenOf(spec, state);
  const places = walkLevers(spec, state);
  const before = places[0];
  const after = places[places.length - 1];
  const v = { count: chosen.length, available: after !== null, launch_seconds: card.launch };
  for (const [key, value] of Object.entries(before || {})) v[`before_${key}`] = value;
  if (after === null) {
    v.sentence = leversSentence(spec, start, card, v, chosen);
    return v;
  }
  for (const [key, value] of Object.entries(after)) v[`after_${key}`] = value;
  v.gain = before.seconds / after.seconds;
  chosen.forEach((lever, i) => {
    if (places[i] !== null && places[i + 1] !== null) v[`gain:${lever}`] = places[i].seconds / places[i + 1].seconds;
  });
  let most = 1;
  for (const lever of start.levers) {
    const there = chosen.includes(lever) ? null : leverPlaceWith(card, start, [...chosen, lever], state.reaches);
    if (there !== null && after.seconds / there.seconds > most) {
      most = after.seconds / there.seconds;
      Object.assign(v, { next: lever, next_gain: most });
    }
  }
  v.sentence = leversSentence(spec, start, card, v, chosen);
  return v;
}

export const leverBound = (kind) => (kind === "launch" ? "bound by its launches" : `${kind}-bound`);

function leversSentence(spec, start, card, v, chosen) {
  const on = `${start.words}, on ${withArticle(card.name)}`;
  const [where, kind] = "own" in card ? ["in this run", "device"] : ["on this card", "card"];
  if (!("before_seconds" in v)) return `${on}: its roof, ${spec.paths[firstPath(start)]}, was not measured ${where}. Choose another kernel, or another ${kind}.`;
  if (!v.available) return `${on}: these levers need a roof that was not measured ${where}. Choose others, or another ${kind}.`;
  let first = `${on}, takes ${time3(v.before_seconds)} by the model: ${leverBound(v.before_bound)}, at ${percent(v.before_percent)} of its roof${v.before_bound === "launch" ? ", launches included" : ""}.`;
  if (chosen.length > 0) {
    const ways = [];
    if (v.after_intensity > 1.01 * v.before_intensity) ways.push("right");
    if (v.after_intensity < 0.99 * v.before_intensity) ways.push("left");
    if (v.after_flop_per_s > 1.01 * v.before_flop_per_s) ways.push("up");
    if (v.after_flop_per_s < 0.99 * v.before_flop_per_s) ways.push("down");
    if (v.after_path !== v.before_path) ways.push(`under the roof of ${spec.paths[v.after_path]}`);
    const moved = ways.length > 0 ? `The point moves ${listed(ways)}` : "The point stays where it is";
    first = `${on}: ${time3(v.before_seconds)} before, ${time3(v.after_seconds)} after, ${significant(v.gain, 3)} times as fast by the model. `
      + `${moved}; now it is ${leverBound(v.after_bound)}.`;
  }
  if ((v.next_gain || 1) < WORTH_A_LEVER) return `${first} None of the levers left here would gain five percent.`;
  return `${first} Next, the most to gain: ${leverOf(spec, v.next).label}, ${significant(v.next_gain, 3)} times.`;
}

/** The explorer with the machine of a run file, which is chosen, and a kernel whose first roof it has. */
export function leversWithRun(spec, run, file, state) {
  const { common, ceilings, l2 } = deviceOfRun(spec, run, file);
  const known = ceilings.map(({ precision, path, peak }) => [path === "vector" ? `${precision}.vector` : precision, peak]);
  const peaks = Object.fromEntries(known.filter(([path]) => path in spec.paths));
  const line = launchLine(workingSetSweep(run.points, "copy"), run.machine.key, l2);
  const ask = "measure with --only bandwidth,working-set,fma,matmul";
  if (line === undefined) throw new Error(`${common.name}: this run does not say what a launch takes: ${ask}`);
  const first = spec.kernels.find((kernel) => firstPath(kernel) in peaks);
  if (first === undefined) throw new Error(`${common.name}: this run has none of the roofs that these kernels need: ${ask}`);
  const stays = firstPath(leverStart(spec, state.kernel)) in peaks;
  return {
    spec: { ...spec, devices: [...spec.devices, { ...common, launch: line.overhead, peaks }] },
    state: { ...state, device: common.key, ...(stays ? {} : { kernel: first.name, levers: "none" }) },
  };
}
