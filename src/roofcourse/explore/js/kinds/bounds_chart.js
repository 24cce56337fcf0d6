// Two bars on one logarithmic axis of time, the same for every state: the longer one wins.

import { set, svg, write } from "../dom.js";
import { bytes, flop, rate, tflops, time3 } from "../format.js";
import { textWidth } from "../labels.js";
import { decades, logScale } from "../scale.js";

// From the fastest to the slowest that the sliders can ask for, rounded outwards.
const SECONDS = [1e-10, 1e4];
const NAMED = [[1e-9, "1 ns"], [1e-6, "1 µs"], [1e-3, "1 ms"], [1, "1 s"], [1e3, "1 000 s"]];

const BAR = 34;
const TOP = 30;
const STEP = 78;
const LEFT = 1;
const RIGHT = 16;

export function createBoundsChart(font) {
  const node = svg("svg", { class: "rc-chart", role: "img" });
  const grid = svg("g", { class: "rc-grid" });
  const rows = ["compute", "memory"].map((bound, i) => {
    const row = {
      bound,
      top: TOP + i * STEP,
      title: svg("text", { class: "rc-row-title", x: LEFT + 5 }),
      bar: svg("rect", { class: "rc-bar", "data-bound": bound, x: LEFT, height: BAR, rx: 2 }),
      time: svg("text", { class: "rc-row-time", "data-rc-value": `${bound}_seconds` }),
    };
    set(row.title, { y: row.top - 9 });
    set(row.bar, { y: row.top });
    set(row.time, { y: row.top + BAR / 2 + 5 });
    return row;
  });
  const limit = svg("path", { class: "rc-gap" });
  node.append(grid, ...rows.map((row) => row.bar), limit, ...rows.flatMap((row) => [row.title, row.time]));

  const foot = TOP + STEP + BAR + 14;
  let width = 0;
  let x = null;

  function resize(now) {
    if (now === width) return false;
    width = now;
    const narrow = width < 560;
    const size = narrow ? 12 : 13;
    const scale = logScale(...SECONDS, LEFT, width - RIGHT);
    x = (seconds) => Math.min(scale(seconds), width - 4); // a slow machine with the largest work goes beyond the axis
    set(node, { width, height: foot + 42, viewBox: `0 0 ${width} ${foot + 42}`, "font-size": size });
    const line = (seconds) => `M${x(seconds).toFixed(1)} ${TOP}V${foot}`;
    grid.replaceChildren(
      svg("path", { class: "rc-minor", d: decades(...SECONDS).map(line).join("") }),
      svg("path", { class: "rc-major", d: NAMED.map(([seconds]) => line(seconds)).join("") }),
      svg("path", { class: "rc-axis", d: `M${LEFT} ${TOP}V${foot}H${width - RIGHT}` }),
      ...NAMED.map(([seconds, name]) => svg("text", { x: x(seconds), y: foot + 17, "text-anchor": "middle" }, name)),
      svg("text", { class: "rc-title", x: width / 2, y: foot + 36, "text-anchor": "middle" }, "lower bound of the time, one step is a factor of ten"),
    );
    return true;
  }

  function show(v) {
    const narrow = width < 560;
    set(node, { "data-bound": v.bound || "none", "aria-label": `Two bars on a logarithmic axis of time. ${v.sentence}` });
    const titles = {
      compute: v.available ? `arithmetic: W/F = ${flop(v.flop)} / ${tflops(v.peak)}` : "arithmetic: F unknown",
      memory: `traffic: Q/B = ${bytes(v.bytes)} / ${rate(v.bandwidth)}`,
    };
    for (const row of rows) {
      const seconds = v[`${row.bound}_seconds`];
      write(row.title, titles[row.bound]);
      const wins = v.bound === row.bound || v.bound === "balanced";
      set(row.bar, { width: seconds === undefined ? 0 : x(seconds) - LEFT, "data-wins": String(wins) });
      placeTime(row, seconds, wins, narrow ? 14 : 16, v.available ? x(v.bound_seconds) : 0);
    }
    if (!v.available) set(limit, { d: "" });
    else set(limit, { d: `M${x(v.bound_seconds).toFixed(1)} ${TOP - 4}V${foot}` });
  }

  /** The answer at the end of its bar: beyond it where there is room, and beyond the line of the bound where that crosses it; else inside. */
  function placeTime(row, seconds, wins, size, line) {
    set(row.time, { "data-rc-exact": seconds === undefined ? "" : String(seconds) });
    if (seconds === undefined) {
      write(row.time, "");
      return;
    }
    const words = `${wins ? "T\u00a0≥\u00a0" : ""}${time3(seconds)}`;
    const wide = textWidth(words, `700 ${size}px ${font()}`);
    const end = !wins && line < x(seconds) + 12 + wide ? Math.max(line, x(seconds)) : x(seconds);
    const inside = end + 10 + wide > width;
    write(row.time, words);
    set(row.time, {
      x: inside ? x(seconds) - 9 : end + 9, "text-anchor": inside ? "end" : "start", "data-inside": String(inside && wins),
      "font-size": size, "font-weight": wins ? 700 : 400,
    });
  }

  return { node, resize, show };
}
