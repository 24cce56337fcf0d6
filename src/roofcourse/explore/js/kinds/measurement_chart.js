// One series of measurements on logarithmic axes: bandwidth by working set, or the throughput of the FMA sweep by R.

import { set, svg, write } from "../dom.js";
import { rate, tflops, tick, time3 } from "../format.js";
import { textWidth } from "../labels.js";
import { betweenDecades, decades, logScale, seenWith } from "../scale.js";
import { binarySize, isFma } from "./measurement_model.js";

// The axes of explore/standin_measurement.py: all cards and kernels fit in, so that only what changes moves.
const BY_SIZE = { x: [2 ** 12, 2 ** 31], y: [1e9, 2e13], unit: 1e9, title: "achieved bandwidth (GB/s)", foot: "working set",
  ticks: [13, 16, 19, 22, 25, 28].map((e) => [2 ** e, binarySize(2 ** e)]) };
const BY_R = { x: [0.8, 2600], y: [4e10, 2e14], unit: 1e12, title: "throughput (TFLOP/s)", foot: "multiply-adds R on each number",
  ticks: [1, 4, 16, 64, 256, 1024].map((r) => [r, String(r)]) };

/** The axes, wider by whole octaves and decades where an own device has points beyond those of the cards. */
function axesFor(device, fma) {
  const axes = fma ? BY_R : BY_SIZE;
  if (!("own" in device)) return axes;
  const points = Object.entries(device.series).filter(([name]) => isFma(name) === fma).flatMap(([, series]) => series);
  const rates = points.map(([, flop, bytes, seconds]) => (fma ? flop : bytes) / seconds);
  const low = Math.min(axes.y[0], ...rates.map((r) => Number(`1e${Math.floor(Math.log10(r * 0.8))}`)));
  const far = Math.max(axes.x[1], ...points.map(([at]) => 2 ** Math.ceil(Math.log2(at) + 0.3)));
  return { ...axes, x: [axes.x[0], far], y: [low, axes.y[1]] };
}

const PLOT_TOP = 50;
const STRIP_HEIGHT = 20; // the height of the strip that names the regions

export function createMeasurementChart(font) {
  const node = svg("svg", { class: "rc-chart", role: "img" });
  const grid = svg("g", { class: "rc-grid" });
  const regions = [0, 1, 2].map(() => ({
    band: svg("rect", { class: "rc-region", y: PLOT_TOP - STRIP_HEIGHT, height: STRIP_HEIGHT }),
    word: svg("text", { class: "rc-row-title", y: PLOT_TOP - 6, "text-anchor": "middle" }),
    edge: svg("path", { class: "rc-ridge-line" }),
  }));
  const launch = svg("path", { class: "rc-launch" });
  const roof = svg("path", { class: "rc-line" });
  const name = svg("text", { class: "rc-own-name rc-halo" });
  const marks = svg("g");
  const chosen = svg("circle", { r: 8 });
  const answer = [svg("text", { class: "rc-reply rc-halo", "text-anchor": "end" }), svg("text", { class: "rc-halo", "text-anchor": "end" })];
  node.append(grid, ...regions.flatMap((r) => [r.band, r.edge, r.word]), launch, roof, name, marks, chosen, ...answer);

  let width = 0;
  let scene = null; // { axes, x, y, left, right, foot }

  function resize(now) {
    if (now === width) return false;
    width = now;
    scene = null;
    return true;
  }

  function frame(axes) {
    const narrow = width < 560;
    const height = narrow ? 340 : seenWith(420);
    const small = narrow ? 11 : 12;
    const rates = decades(...axes.y);
    const left = Math.ceil(Math.max(...rates.map((v) => textWidth(tick(v / axes.unit), `400 ${small}px ${font()}`)))) + 10;
    const right = width - 8;
    const foot = height - 46;
    const x = logScale(...axes.x, left, right);
    const y = logScale(...axes.y, foot, PLOT_TOP);
    scene = { axes, x, y, left, right, foot, narrow };
    set(node, { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": narrow ? 12 : 13 });
    const across = (values) => values.map((v) => `M${left} ${y(v).toFixed(1)}H${right}`).join("");
    grid.replaceChildren(
      svg("path", { class: "rc-minor", d: across(betweenDecades(...axes.y)) }),
      svg("path", { class: "rc-major", d: across(rates) + axes.ticks.map(([v]) => `M${x(v).toFixed(1)} ${PLOT_TOP}V${foot}`).join("") }),
      svg("path", { class: "rc-axis", d: `M${left} ${foot}H${right}` }),
      ...axes.ticks.filter((_, i) => width > 330 || i % 2 === 0).map(([v, words]) => svg("text", { x: x(v), y: foot + 17, "text-anchor": "middle", "font-size": small }, words)),
      ...rates.map((v) => svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end", "font-size": small }, tick(v / axes.unit))),
      svg("text", { class: "rc-title", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, axes.foot),
      svg("text", { class: "rc-title", x: 2, y: 13 }, axes.title),
    );
  }

  /** The strip above the plot: [words, from, to, "memory" or "compute" for its colour, whether it is the chosen one's]. */
  function nameRegions(parts) {
    const { x, left, right, foot } = scene;
    regions.forEach(({ band, word, edge }, i) => {
      const [words, from, to, bound, own] = parts[i] || ["", 1, 1, "memory", false];
      const start = parts[i] ? Math.min(Math.max(x(from), left), right) : left;
      const end = parts[i] ? Math.min(Math.max(x(to), left), right) : left;
      const weight = own ? 700 : 400;
      const fits = textWidth(words, `${weight} 13px ${font()}`) + 6 < end - start;
      set(band, { x: start, width: Math.max(end - start, 0), "data-bound": bound, "data-own": String(own) });
      write(word, fits ? words : "");
      set(word, { x: (start + end) / 2, "font-weight": weight });
      set(edge, { d: parts[i] && end > start && end < right ? `M${end.toFixed(1)} ${PLOT_TOP - STRIP_HEIGHT}V${foot}` : "" });
    });
  }

  function show(v, device, kernel, fma) {
    const axes = axesFor(device, fma);
    if (scene === null || JSON.stringify(scene.axes) !== JSON.stringify(axes)) frame(axes);
    const there = v.points > 0;
    for (const part of [launch, roof, name, marks, chosen]) set(part, { visibility: there ? null : "hidden" });
    const { x, y, left, right, foot, narrow } = scene;
    set(node, { "aria-label": `Chart on logarithmic axes, ${axes.title}. ${v.sentence}` });
    if (!there) {
      nameRegions([]);
      write(answer[0], "not in this run");
      write(answer[1], device.name);
      placeAnswer();
      return;
    }
    if (fma) {
      nameRegions([["memory-bound", axes.x[0], v.ridge_r, "memory", v.bound === "memory"],
        ["compute-bound", v.ridge_r, axes.x[1], "compute", v.bound === "compute"]]);
      const perR = (v.bandwidth * v.intensity) / v.r;
      const start = Math.max(axes.x[0], axes.y[0] / perR);
      const corner = Math.max(v.ridge_r, start);
      const at = (r) => `${x(r).toFixed(1)} ${y(Math.min(v.peak, r * perR)).toFixed(1)}`;
      set(roof, { d: `M${at(start)}L${at(corner)}L${at(axes.x[1])}` });
      set(launch, { d: "" });
      write(name, `F = ${tflops(v.peak)}`);
      set(name, { x: right - 4, y: y(v.peak) - 9, "text-anchor": "end" });
    } else {
      const half = device.launch * device.launch_bandwidth; // there a launch takes as long as the bytes
      const cached = Math.max(half, v.l2);
      nameRegions([["launch", axes.x[0], half, "compute", v.region === "launch"],
        ["own" in device ? "cache" : "L2", half, cached, "memory", v.region === "l2"],
        ["memory", cached, axes.x[1], "memory", v.region === "memory" || v.region === "partly"]]);
      set(roof, { d: `M${left} ${y(v.bandwidth).toFixed(1)}H${right}` });
      const steps = Array.from({ length: 40 }, (_, i) => axes.x[0] * (cached / axes.x[0]) ** (i / 39));
      const line = steps.map((s) => [x(s), y(s / (device.launch + s / device.launch_bandwidth))]);
      set(launch, { d: device.launch === 0 ? "" : `M${line.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L")}` });
      write(name, `B = ${rate(v.bandwidth)}`);
      set(name, { x: left + 6, y: y(v.bandwidth) - 8, "text-anchor": "start" });
    }
    const rateOf = ([, flop, bytes, seconds]) => (fma ? flop : bytes) / seconds;
    const points = device.series[kernel];
    marks.replaceChildren(...points.map((p) => svg("circle", { class: p[4] ? "rc-open" : "rc-full", cx: x(p[0]), cy: y(rateOf(p)), r: narrow ? 3.6 : 4.2 })));
    const own = points[v.number - 1];
    set(chosen, { class: v.unstable ? "rc-chosen rc-open" : "rc-chosen", cx: x(own[0]), cy: y(rateOf(own)) });
    write(answer[0], fma ? tflops(v.flop_per_s) : rate(v.bytes_per_s));
    write(answer[1], `${fma ? `R = ${v.r}` : binarySize(v.working_set)} in ${time3(v.seconds)}`);
    placeAnswer();
  }

  function placeAnswer() {
    const { right, foot, narrow } = scene;
    set(answer[0], { x: right - 8, y: foot - 32, "font-size": narrow ? 14 : 16 });
    set(answer[1], { x: right - 8, y: foot - 12 });
  }

  return { node, resize, show };
}
