// One decode step: its traffic by part, its least times beside a measured one, and where its parts stand under the roof.

import { set, svg, write } from "../dom.js";
import { bytes, flop, percent3, rate, significant, tflops, tick, time3 } from "../format.js";
import { textWidth } from "../labels.js";
import { betweenDecades, decades, logScale, lowestThroughput } from "../scale.js";

// From the fastest to the slowest that the controls can ask for, rounded outwards. The stand-in has the same axis of time.
const STEP_SECONDS = [1e-7, 1e3];
const STEP_TIMES = [[1e-6, "1 µs"], [1e-3, "1 ms"], [1, "1 s"]];
const STEP_INTENSITY = [0.25, 3e4];
const STEP_THROUGHPUT = [1e11, 1e16];
const STEP_PIECES = { weights: "weights", kv: "KV cache", activations: "activations" };
const SHARE_TOP = 26;
const SHARE_FOOT = 62;
const TIME_TOP = 150;
const TIME_ROW = 54;
const TIME_BAR = 26;
const TIME_FOOT = TIME_TOP + 2 * TIME_ROW + 44;
const ROOF_HEIGHT = 330;

/** `spec` has the devices: an own one may need a lower foot of the axis of throughput. */
export function createDecodeChart(spec, font) {
  const throughput = [lowestThroughput(spec.devices, STEP_THROUGHPUT[0], STEP_INTENSITY[0]), STEP_THROUGHPUT[1]];
  const node = svg("svg", { class: "rc-chart", role: "img" });
  const total = svg("text", { class: "rc-row-title", x: 1, y: 16 });
  const pieces = Object.keys(STEP_PIECES).map((part) => ({
    part,
    bar: svg("rect", { class: `rc-part rc-part-${part}`, y: SHARE_TOP, height: SHARE_FOOT - SHARE_TOP }),
    key: svg("rect", { class: `rc-part rc-part-${part}`, y: SHARE_FOOT + 12, width: 11, height: 11 }),
    name: svg("text", { y: SHARE_FOOT + 22 }),
    share: svg("text", { class: "rc-row-title", y: SHARE_FOOT + 39, "data-rc-value": `percent_${part}` }),
  }));
  const grid = svg("g", { class: "rc-grid" });
  const rows = ["memory", "compute"].map((bound, i) => ({
    bound,
    title: svg("text", { class: "rc-row-title", x: 1, y: TIME_TOP + i * TIME_ROW - 8 }),
    bar: svg("rect", { class: "rc-bar", "data-bound": bound, x: 1, y: TIME_TOP + i * TIME_ROW, height: TIME_BAR, rx: 2 }),
    time: svg("text", { class: "rc-row-time", y: TIME_TOP + i * TIME_ROW + TIME_BAR / 2 + 5, "data-rc-value": `${bound}_seconds` }),
  }));
  const limit = svg("path", { class: "rc-gap" });
  const dot = svg("circle", { class: "rc-full", r: 7, cy: TIME_TOP + 2 * TIME_ROW + 14 });
  const seen = svg("text", { class: "rc-halo", y: TIME_TOP + 2 * TIME_ROW + 19 });
  const roof = {
    frame: svg("g", { class: "rc-grid" }),
    under: svg("path", { class: "rc-region" }),
    line: svg("path", { class: "rc-line" }),
    name: svg("text", { class: "rc-own-name rc-halo", "text-anchor": "end" }),
    marks: ["linear", "attention", "step"].map((part) => ({
      part,
      pin: svg("path", { class: part === "step" ? "rc-gap" : "rc-leader" }),
      cross: svg("path", { class: part === "step" ? "rc-cross" : "rc-cross rc-plain" }),
      words: svg("text", { class: part === "step" ? "rc-reply rc-halo" : "rc-halo" }),
    })),
  };
  node.append(total, ...pieces.flatMap((p) => [p.bar, p.key, p.name, p.share]), grid, ...rows.map((row) => row.bar), limit,
    ...rows.flatMap((row) => [row.title, row.time]), dot, seen,
    roof.frame, roof.under, roof.line, roof.name, ...roof.marks.flatMap((m) => [m.pin, m.cross]), ...roof.marks.map((m) => m.words));

  let width = 0;
  let scene = null; // { x, left: width of the left part, ix, py, roofLeft, roofRight, roofTop, roofFoot, narrow }

  const widthOf = (text, size, weight = 400) => textWidth(text, `${weight} ${size}px ${font()}`);

  function resize(now) {
    if (now === width) return false;
    width = now;
    const narrow = width < 640;
    const left = narrow ? width - 2 : Math.round(width * 0.53);
    const small = narrow ? 12 : 13;
    const x = logScale(...STEP_SECONDS, 1, left);
    const roofTop = narrow ? TIME_FOOT + 84 : 40;
    const roofFoot = narrow ? roofTop + ROOF_HEIGHT - 100 : TIME_FOOT;
    const throughputs = decades(...throughput);
    const roofLeft = (narrow ? 0 : left + 34) + Math.ceil(Math.max(...throughputs.map((p) => widthOf(tick(p / 1e12), 11)))) + 8;
    const roofRight = width - 4;
    const ix = logScale(...STEP_INTENSITY, roofLeft, roofRight);
    const py = logScale(...throughput, roofFoot, roofTop);
    scene = { x, left, ix, py, roofLeft, roofRight, roofTop, roofFoot, narrow, small };
    const height = roofFoot + 46;
    set(node, { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": small });
    const line = (seconds) => `M${x(seconds).toFixed(1)} ${TIME_TOP - 4}V${TIME_FOOT}`;
    grid.replaceChildren(
      svg("path", { class: "rc-minor", d: decades(...STEP_SECONDS).map(line).join("") }),
      svg("path", { class: "rc-major", d: STEP_TIMES.map(([seconds]) => line(seconds)).join("") }),
      svg("path", { class: "rc-axis", d: `M1 ${TIME_TOP - 4}V${TIME_FOOT}H${left}` }),
      ...STEP_TIMES.map(([seconds, name]) => svg("text", { x: x(seconds), y: TIME_FOOT + 17, "text-anchor": "middle" }, name)),
      svg("text", { class: "rc-title", x: left, y: TIME_FOOT + 36, "text-anchor": "end" }, "time, one line is a factor of ten"),
    );
    const major = decades(...STEP_INTENSITY);
    const across = (values) => values.map((p) => `M${roofLeft} ${py(p).toFixed(1)}H${roofRight}`).join("");
    const up = (values) => values.map((i) => `M${ix(i).toFixed(1)} ${roofTop}V${roofFoot}`).join("");
    roof.frame.replaceChildren(
      svg("path", { class: "rc-minor", d: up(betweenDecades(...STEP_INTENSITY)) }),
      svg("path", { class: "rc-major", d: across(throughputs) + up(major) }),
      svg("path", { class: "rc-axis", d: `M${roofLeft} ${roofFoot}H${roofRight}` }),
      ...major.map((i) => svg("text", { x: ix(i), y: roofFoot + 17, "text-anchor": "middle", "font-size": 11 }, tick(i))),
      ...throughputs.map((p) => svg("text", { x: roofLeft - 5, y: py(p) + 4, "text-anchor": "end", "font-size": 11 }, tick(p / 1e12))),
      svg("text", { class: "rc-title", x: roofRight, y: roofFoot + 36, "text-anchor": "end" }, "arithmetic intensity (FLOP/byte)"),
      svg("text", { class: "rc-title", x: narrow ? 1 : left + 34, y: roofTop - 24 }, "attainable (TFLOP/s)"),
    );
    return true;
  }

  function show(v, deviceName) {
    set(node, { "data-bound": v.bound || "none", "aria-label": `The traffic of a decode step by part, its least times on a logarithmic axis, and its parts under the roofline. ${v.sentence}` });
    const absent = v.available ? null : "hidden";
    for (const piece of pieces) for (const key of ["bar", "key", "name", "share"]) set(piece[key], { visibility: absent });
    for (const row of rows) for (const key of ["bar", "title", "time"]) set(row[key], { visibility: absent });
    for (const m of roof.marks) for (const key of ["pin", "cross", "words"]) set(m[key], { visibility: absent });
    for (const each of [limit, dot, seen, roof.line, roof.under, roof.name]) set(each, { visibility: absent });
    if (!v.available) {
      write(total, "no bound for these choices");
      return;
    }
    showParts(v);
    showTimes(v);
    showRoof(v, deviceName);
  }

  function showParts(v) {
    const { left } = scene;
    write(total, `traffic of a step: ${bytes(v.bytes)}, of which`);
    let start = 1;
    pieces.forEach((piece, rank) => {
      const share = v[`percent_${piece.part}`];
      const across = ((left - 1) * share) / 100;
      set(piece.bar, { x: start, width: Math.max(across, 0.5) });
      start += across;
      const column = 1 + (rank * (left - 1)) / pieces.length;
      set(piece.key, { x: column });
      write(piece.name, STEP_PIECES[piece.part]);
      set(piece.name, { x: column + 17 });
      write(piece.share, share < 0.1 ? "< 0.1\u00a0%" : `${percent3(share)}`);
      set(piece.share, { x: column + 17, "data-rc-exact": String(share) });
    });
  }

  function showTimes(v) {
    const { x, left, narrow } = scene;
    const titles = {
      memory: `traffic: ${bytes(v.bytes)} / ${rate(v.bandwidth)}`,
      compute: `arithmetic: ${flop(v.flop)} / ${tflops(v.peak)}`,
    };
    for (const row of rows) {
      const seconds = v[`${row.bound}_seconds`];
      const wins = v.bound === row.bound;
      const size = narrow ? 14 : 15;
      const words = `${wins ? "T\u00a0≥\u00a0" : ""}${time3(seconds)}`;
      const end = Math.min(Math.max(x(seconds), 2), left);
      const inside = end + 10 + widthOf(words, size, 700) > left;
      write(row.title, titles[row.bound]);
      set(row.bar, { width: end - 1, "data-wins": String(wins) });
      write(row.time, words);
      set(row.time, {
        x: inside ? end - 8 : end + 8, "text-anchor": inside ? "end" : "start", "data-inside": String(inside && wins),
        "font-size": size, "font-weight": wins ? 700 : 400, "data-rc-exact": String(seconds),
      });
    }
    const [here, top] = [x(v.seconds).toFixed(1), TIME_TOP + 2 * TIME_ROW];
    set(limit, { d: v.measured ? `M${here} ${top + 4}V${top + 24}M${here} ${top + 14}H${x(v.measured_seconds).toFixed(1)}` : "" });
    set(dot, { visibility: v.measured ? null : "hidden", cx: v.measured ? x(v.measured_seconds) : 1 });
    const words = v.measured ? `measured: ${time3(v.measured_seconds)}` : "not measured";
    write(seen, words);
    set(seen, { x: v.measured ? x(v.measured_seconds) + 13 : 6 });
  }

  function showRoof(v, deviceName) {
    const { ix, py, roofLeft, roofRight, roofTop, roofFoot, narrow } = scene;
    const reach = (i) => Math.min(v.peak, v.bandwidth * i);
    const first = Math.max(STEP_INTENSITY[0], throughput[0] / v.bandwidth);
    const at = (i) => `${ix(i).toFixed(1)} ${py(reach(i)).toFixed(1)}`;
    const ridge = Math.min(Math.max(v.ridge_point, first), STEP_INTENSITY[1]);
    set(roof.line, { d: `M${at(first)}L${at(ridge)}L${at(STEP_INTENSITY[1])}` });
    const edge = ix(ridge).toFixed(1);
    const side = v.bound === "memory" ? `M${at(first)}L${at(ridge)}V${roofFoot}H${ix(first).toFixed(1)}Z` : `M${at(ridge)}H${roofRight}V${roofFoot}H${edge}Z`;
    set(roof.under, { d: side, "data-bound": v.bound });
    write(roof.name, `${deviceName}, ${v.compute_precision}: ridge point ${significant(v.ridge_point, 3)}`);
    set(roof.name, { x: roofRight, y: roofTop - 6 });
    const size = narrow ? 12 : 13;
    const values = { linear: v.linear_intensity, attention: v.attention_intensity, step: v.intensity };
    const names = { linear: "linear layers", attention: "attention", step: "the step" };
    // The words stand at the foot of the pins, one line each, in the order of their intensity from the bottom up.
    const order = Object.keys(values).sort((a, b) => values[b] - values[a]);
    for (const mark of roof.marks) {
      const i = Math.min(Math.max(values[mark.part], STEP_INTENSITY[0]), STEP_INTENSITY[1]);
      const [px, top] = [ix(i), py(reach(i))];
      const line = roofFoot - 10 - 19 * order.indexOf(mark.part);
      const text = `${names[mark.part]}, I = ${significant(values[mark.part], 3)}`;
      const right = px + 10 + widthOf(text, size, 700) > roofRight;
      set(mark.cross, { d: `M${(px - 7).toFixed(1)} ${top.toFixed(1)}h14m-7 -7v14` });
      set(mark.pin, { d: `M${px.toFixed(1)} ${top.toFixed(1)}V${line}` });
      write(mark.words, text);
      set(mark.words, { x: right ? Math.max(px - 7, roofLeft + widthOf(text, size, 700)) : px + 7, y: line, "text-anchor": right ? "end" : "start", "font-size": size });
    }
  }

  return { node, resize, show };
}
