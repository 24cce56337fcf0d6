// Time by rows on logarithmic axes: measured points, the bound with padding and without; a strip with the executed rows.

import { set, svg, write } from "../dom.js";
import { time3 } from "../format.js";
import { textWidth } from "../labels.js";
import { betweenDecades, logScale, seenWith } from "../scale.js";
import { MOST_ROWS, paddingTimes } from "./padding_model.js";

// The axes of explore/standin_padding.py: all cards and precisions fit in, so that only what changes moves.
const PADDING_SECONDS = [3e-7, 0.5];
const PADDING_TIMES = [[1e-6, "1 µs"], [1e-5, "10 µs"], [1e-4, "100 µs"], [1e-3, "1 ms"], [1e-2, "10 ms"], [1e-1, "100 ms"], [1, "1 s"], [10, "10 s"], [100, "100 s"]];
const PADDING_ROWS = [1, 4, 16, 64, 256, 1024];
const BLOCK_TOP = 22; // of the strip of executed rows
const BLOCK_HEIGHT = 16;
const PADDING_TIME_TOP = 70; // of the plot

/** The rows at which the padded bound is worked out: evenly on the logarithmic axis, and both sides of every step. */
function paddingSteps(tile) {
  const rows = new Set(Array.from({ length: 61 }, (_, i) => Math.round(MOST_ROWS ** (i / 60))));
  if (tile > 1) for (let edge = tile; edge < MOST_ROWS; edge += tile) rows.add(edge).add(edge + 1);
  return [...rows].sort((a, b) => a - b);
}

/** The axis of time: that of the cards, or longer by whole decades where an own device has times beyond it. */
function paddingAxis(spec) {
  const own = spec.devices.filter((device) => "own" in device).flatMap((device) => paddingTimes(spec, device));
  const [low, high] = PADDING_SECONDS;
  const decade = (round) => (t) => Number(`1e${round(Math.log10(t))}`);
  return [Math.min(low, ...own.filter((t) => t <= low).map(decade(Math.floor))), Math.max(high, ...own.filter((t) => t >= high).map(decade(Math.ceil)))];
}

export function createPaddingChart(font, spec) {
  const range = paddingAxis(spec);
  const times = PADDING_TIMES.filter(([t]) => t < range[1]);
  const node = svg("svg", { class: "rc-chart", role: "img" });
  const grid = svg("g", { class: "rc-grid" });
  const waste = svg("rect", { class: "rc-waste", y: BLOCK_TOP, height: BLOCK_HEIGHT });
  const useful = svg("rect", { class: "rc-useful", y: BLOCK_TOP, height: BLOCK_HEIGHT });
  const rowsWord = svg("text", { x: 1, y: BLOCK_TOP - 8 });
  const here = svg("path", { class: "rc-ridge-line" });
  const plain = svg("path", { class: "rc-launch" });
  const padded = svg("path", { class: "rc-line" });
  const plainName = svg("text", { class: "rc-row-title rc-halo" });
  const paddedName = svg("text", { class: "rc-own-name rc-halo" });
  const marks = svg("g");
  const gap = svg("path", { class: "rc-gap" });
  const chosen = svg("circle", { r: 7.5 });
  const cross = svg("path", { class: "rc-cross" });
  const absent = svg("text", { class: "rc-absent", "text-anchor": "middle" });
  const answer = [svg("text", { class: "rc-reply rc-halo", "text-anchor": "end" }), svg("text", { class: "rc-halo", "text-anchor": "end" })];
  const model = svg("g", {}, here, plain, padded, plainName, paddedName, marks, gap, cross, chosen, ...answer);
  node.append(grid, waste, useful, rowsWord, model, absent);

  let width = 0;
  let frame = null; // { x, y, left, right, foot, narrow }

  function resize(now) {
    if (now === width) return false;
    width = now;
    drawFrame();
    return true;
  }

  function drawFrame() {
    const narrow = width < 560;
    const height = narrow ? 370 : seenWith(440);
    const small = narrow ? 11 : 12;
    const left = Math.ceil(Math.max(...times.map(([, words]) => textWidth(words, `400 ${small}px ${font()}`)))) + 10;
    const right = width - 14;
    const foot = height - 46;
    const x = logScale(1, MOST_ROWS, left, right);
    const y = logScale(...range, foot, PADDING_TIME_TOP);
    frame = { x, y, left, right, foot, narrow };
    set(node, { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": narrow ? 12 : 13 });
    set(waste, { x: 1, width: right - 1 });
    set(useful, { x: 1 });
    set(absent, { x: (left + right) / 2, y: (PADDING_TIME_TOP + foot) / 2, "font-size": narrow ? 14 : 16 });
    const across = (values) => values.map((t) => `M${left} ${y(t).toFixed(1)}H${right}`).join("");
    const ticks = narrow ? PADDING_ROWS.slice(0, -1) : PADDING_ROWS;
    grid.replaceChildren(
      svg("path", { class: "rc-minor", d: across(betweenDecades(...range)) }),
      svg("path", { class: "rc-major", d: across(times.map(([t]) => t)) + PADDING_ROWS.map((m) => `M${x(m).toFixed(1)} ${PADDING_TIME_TOP}V${foot}`).join("") }),
      svg("path", { class: "rc-axis", d: `M${left} ${foot}H${right}` }),
      ...ticks.map((m) => svg("text", { x: x(m), y: foot + 17, "text-anchor": "middle", "font-size": small }, String(m))),
      ...times.map(([t, words]) => svg("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end", "font-size": small }, words)),
      svg("text", { class: "rc-title", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, "rows M"),
      svg("text", { class: "rc-title", x: 2, y: PADDING_TIME_TOP - 12 }, "time"),
    );
  }

  /** `at(m)` gives the numbers of one number of rows; `sweep` is [M, seconds, unstable, suspect] of what was measured. */
  function show(v, at, sweep, where) {
    const { x, y, left, right, foot, narrow } = frame;
    set(node, { "aria-label": `Chart on logarithmic axes, time by rows. ${v.sentence}` });
    set(useful, { width: Math.max(((right - 1) * v.useful_percent) / 100, 2) });
    write(rowsWord, `${v.executed} ${v.executed === 1 ? "row" : "rows"} executed, ${v.m} of them useful`);
    set(model, { visibility: v.available ? "inherit" : "hidden" });
    write(absent, v.available ? "" : `not measured: ${where}`);
    if (!v.available) return;

    const line = paddingSteps(v.tile).map(at);
    const pathOf = (key) => `M${line.map((p) => `${x(p.m).toFixed(1)} ${y(p[key]).toFixed(1)}`).join("L")}`;
    set(plain, { d: pathOf("bound_seconds") });
    set(padded, { d: pathOf("padded_seconds") });
    const [lower, upper] = [y(line[0].bound_seconds), y(line[0].padded_seconds)];
    const apart = lower - upper > 24;
    write(plainName, apart ? "bound without padding" : line.some((p) => p.padded_seconds > p.bound_seconds) ? "bounds: padded, and without" : "bound, padded or not");
    write(paddedName, apart ? `bound, blocks of ${v.tile}` : "");
    set(plainName, { x: left + 6, y: lower + 16 < foot - 44 ? lower + 16 : lower - 26 }); // the foot is the answer's
    set(paddedName, { x: left + 6, y: upper + 16 });
    marks.replaceChildren(...sweep.map(([m, seconds, unstable]) => svg("circle", { class: unstable ? "rc-open" : "rc-full", cx: x(m), cy: y(seconds), r: narrow ? 3.6 : 4.2 })));

    const px = x(v.m);
    const bound = y(v.padded_seconds);
    const top = v.measured ? y(v.seconds) : bound;
    set(here, { d: `M${px.toFixed(1)} ${PADDING_TIME_TOP}V${foot}` });
    set(gap, { d: `M${px.toFixed(1)} ${bound.toFixed(1)}V${top.toFixed(1)}` });
    set(chosen, { class: v.unstable ? "rc-chosen rc-open" : "rc-chosen", cx: px, cy: top, visibility: v.measured ? "inherit" : "hidden" });
    set(cross, { d: `M${px - 8} ${bound}h16M${px} ${bound - 8}v16`, visibility: v.measured ? "hidden" : "inherit" });
    write(answer[0], v.measured ? `${time3(v.seconds)} at M = ${v.m}` : `≥ ${time3(v.padded_seconds)} at M = ${v.m}`);
    write(answer[1], v.measured ? `padded bound ${time3(v.padded_seconds)}` : "model only, not measured");
    set(answer[0], { x: right - 8, y: foot - 30, "font-size": narrow ? 14 : 16 });
    set(answer[1], { x: right - 8, y: foot - 11 });
  }

  return { node, resize, show };
}
