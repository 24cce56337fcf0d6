// The chart of the main explorer: a log-log roofline whose axes are the same for every state, so that only what changes moves.

import { set, svg, write } from "../dom.js";
import { intensity, percent, significant, tflops, tick, time3 } from "../format.js";
import { overlaps, placeNear, spread, textWidth } from "../labels.js";
import { betweenDecades, decades, logScale, lowestThroughput, seenWith } from "../scale.js";
import { colourBy } from "../shell.js";
import { deviceOf, labelOf, precisionOf } from "../spec.js";
import { sweepPoint } from "./m_sweep_model.js";

// The smallest and largest values of all devices, precisions and M, rounded outwards.
const INTENSITY = [0.1, 10000]; // FLOP/byte
const THROUGHPUT = [0.02e12, 10000e12]; // FLOP/s

const NARROW = 560; // CSS pixels: below it there is room for fewer labels

/**
 * Where everything goes at a given width; one place for every number that is a matter of taste. The margins have room for
 * the longest tick and the longest device name in the page's own font.
 */
function layoutFor(width, font, names, range) {
  const narrow = width < NARROW;
  const small = narrow ? 11 : 12;
  const room = (words, weight) => Math.ceil(Math.max(...words.map((word) => textWidth(word, `${weight} ${small}px ${font}`))));
  const frame = { x: room(range.map((v) => tick(v / 1e12)), 400) + 10, y: 42, right: room(names, 700) + (narrow ? 13 : 18) };
  const height = narrow ? 390 : seenWith(Math.round(Math.min(540, Math.max(430, width * 0.62))));
  return {
    narrow,
    width,
    height,
    small,
    normal: narrow ? 12 : 13,
    large: narrow ? 14 : 16,
    frame: { x: frame.x, y: frame.y, width: width - frame.x - frame.right, height: height - frame.y - 46 },
  };
}

const points = (pairs) => pairs.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/**
 * onPick({device}) or onPick({m}) is called when a reader clicks a device or a point.
 * onHint(text, x, y) shows a note beside a point; onHint(null) hides it.
 */
export function createSweepChart(spec, font, { onPick, onHint }) {
  const node = svg("svg", { class: "rc-chart", role: "group" });
  const layers = {};
  for (const name of ["grid", "shade", "others", "ridge", "roof", "marks", "here"]) {
    layers[name] = svg("g", { class: `rc-${name}` });
    node.append(layers[name]);
  }
  for (const name of ["grid", "shade", "others", "ridge", "roof", "here"]) set(layers[name], { "aria-hidden": "true" });

  let range = null; // of throughput: lower than usual, by whole decades, where an own device has less bandwidth
  let layout = null;
  let x = null;
  let y = null;
  let scene = null; // what is drawn besides the chosen point: { device, precision, marks, forbidden, roofLine }
  let here = null; // the nodes of the chosen point, kept and moved

  const text = (attributes, content, size) => svg("text", { "font-size": size, ...attributes }, content);

  /** A box around a text drawn at (x, baseline). */
  function textBox(content, size, left, baseline, weight = 400) {
    return { x: left - 3, y: baseline - size, width: textWidth(content, `${weight} ${size}px ${font()}`) + 6, height: size * 1.35 };
  }

  function resize(width) {
    if (layout !== null && layout.width === width) return false;
    range = [lowestThroughput(spec.devices), THROUGHPUT[1]];
    layout = layoutFor(width, font(), spec.devices.map(labelOf), [decades(...range)[0], range[1]]);
    const { frame } = layout;
    x = logScale(...INTENSITY, frame.x, frame.x + frame.width);
    y = logScale(...range, frame.y + frame.height, frame.y);
    set(node, { width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}` });
    drawGrid();
    scene = null;
    return true;
  }

  function drawGrid() {
    const { frame, small, normal, height, width } = layout;
    const bottom = frame.y + frame.height;
    const right = frame.x + frame.width;
    const vertical = (values) => values.map((v) => `M${x(v).toFixed(1)} ${frame.y}V${bottom}`).join("");
    const horizontal = (values) => values.map((v) => `M${frame.x} ${y(v).toFixed(1)}H${right}`).join("");
    const throughputs = decades(...range);
    const tight = x(10) - x(1) < textWidth(tick(INTENSITY[1]), `400 ${small}px ${font()}`) + 6;
    layers.grid.replaceChildren(
      svg("path", { class: "rc-minor", d: vertical(betweenDecades(...INTENSITY)) + horizontal(betweenDecades(...range)) }),
      svg("path", { class: "rc-major", d: vertical(decades(...INTENSITY)) + horizontal(throughputs) }),
      svg("path", { class: "rc-axis", d: `M${frame.x} ${bottom}H${right}` }),
      ...decades(...INTENSITY).filter((_, i) => !tight || i % 2 === 0).map((v) => text({ x: x(v), y: bottom + 17, "text-anchor": "middle" }, tick(v), small)),
      ...throughputs.map((v) => text({ x: frame.x - 8, y: y(v) + 4, "text-anchor": "end" }, tick(v / 1e12), small)),
      text({ class: "rc-title", x: frame.x + frame.width / 2, y: height - 8, "text-anchor": "middle" },
        "arithmetic intensity (FLOP/byte)", normal),
      text({ class: "rc-title", x: 2, y: 13 }, "throughput (TFLOP/s)", normal),
    );
  }

  /** The line min(F, B I) across the whole plot. */
  function roofPath(device, peak) {
    const ridge = peak / device.bandwidth;
    return points([
      [x(INTENSITY[0]), y(INTENSITY[0] * device.bandwidth)],
      [x(ridge), y(peak)],
      [x(INTENSITY[1]), y(peak)],
    ]);
  }

  function drawScene(state, ridgeRows) {
    const device = deviceOf(spec, state.device);
    const precision = precisionOf(spec, state.precision);
    scene = { device: state.device, precision: state.precision, forbidden: [], names: [], alone: false, marks: [], line: [] };
    drawOthers(device, precision);
    drawChosen(device, precision, ridgeRows);
  }

  function drawOthers(chosen, precision) {
    const { frame, small, narrow } = layout;
    const right = frame.x + frame.width;
    const present = spec.devices.filter((device) => precision.name in device.roofs);
    const wishes = present.map((device) => y(device.roofs[precision.name].peak));
    const gap = small + 3;
    const crowded = narrow || (present.length - 1) * gap > frame.height - 8; // a narrow window, or a low one
    const shown = crowded ? sparse(present, wishes, chosen, gap) : present.map((_, i) => i);
    const places = spread(shown.map((i) => wishes[i]), gap, frame.y + 4, frame.y + frame.height - 4);
    layers.others.replaceChildren();
    present.forEach((device, i) => {
      const rank = shown.indexOf(i);
      const own = device === chosen;
      const group = svg("g", { class: own ? "rc-own" : "rc-other" });
      colourBy(group, device);
      const { peak, sweep } = device.roofs[precision.name];
      if (!own) {
        const line = roofPath(device, peak);
        const dots = sweep.map(([m]) => sweepPoint(spec, device, precision, m)).map((v) => dot(x(v.intensity), y(v.flop_per_s), 1.5));
        group.append(
          svg("path", { class: "rc-faint", d: line }),
          svg("path", { class: "rc-dots", d: dots.join("") }),
          svg("path", { class: "rc-reach", d: line }),
        );
        group.addEventListener("click", () => onPick({ device: device.key }));
      }
      if (rank >= 0) {
        const at = places[rank];
        const near = narrow ? 3 : 0;
        group.append(
          svg("path", { class: "rc-leader", d: `M${right + 1} ${wishes[i].toFixed(1)}L${right + 9 - near} ${at.toFixed(1)}H${right + 12 - near}` }),
          text({ x: right + 15 - near, y: at + small * 0.36, "font-weight": own ? 700 : 400 }, labelOf(device), small),
        );
        scene.names.push(textBox(labelOf(device), small, right + 15 - near, at + small * 0.36, 700));
      }
      layers.others.append(group);
    });
  }

  /** Where there is no room for all: the chosen device's label, then each other one that needs no moving. */
  function sparse(present, wishes, chosen, gap) {
    const order = present.map((_, i) => i).sort((a, b) => (present[b] === chosen) - (present[a] === chosen));
    const kept = [];
    for (const i of order) {
      if (kept.every((other) => Math.abs(wishes[other] - wishes[i]) >= gap)) kept.push(i);
    }
    return kept;
  }

  function drawChosen(device, precision, ridgeRows) {
    const { frame, small, normal } = layout;
    const bottom = frame.y + frame.height;
    const right = frame.x + frame.width;
    const roof = device.roofs[precision.name];
    for (const name of ["shade", "ridge", "roof", "marks"]) layers[name].replaceChildren();
    if (roof === undefined) {
      const message = `no ${precision.label} on the ${device.name}`;
      const centre = frame.x + frame.width / 2;
      layers.roof.append(text({ class: "rc-absent", x: centre, y: frame.y + frame.height * 0.88, "text-anchor": "middle" }, message, layout.large));
      return;
    }
    const ridge = roof.peak / device.bandwidth;
    const slope = [[x(INTENSITY[0]), bottom], [x(INTENSITY[0]), y(INTENSITY[0] * device.bandwidth)], [x(ridge), y(roof.peak)], [x(ridge), bottom]];
    const flat = [[x(ridge), bottom], [x(ridge), y(roof.peak)], [right, y(roof.peak)], [right, bottom]];
    layers.shade.append(
      svg("path", { class: "rc-under", "data-bound": "memory", d: `${points(slope)}Z` }),
      svg("path", { class: "rc-under", "data-bound": "compute", d: `${points(flat)}Z` }),
    );

    // The foot of the margin is free, except where an own device is as slow as that.
    const named = [nameRegion("memory", frame.x + 9, [x(ridge) - 6], bottom - 9), nameRegion("compute", x(ridge) + 9, [right - 4, layout.width - 2], bottom - 9)];
    scene.alone = named.includes(false);

    const rows = ridgeRows === undefined || layout.narrow ? "" : `, M ≈ ${significant(ridgeRows, 3)}`;
    const label = `ridge point ${intensity(ridge)}${rows}`;
    const wide = textWidth(label, `400 ${small}px ${font()}`);
    const centre = Math.min(Math.max(x(ridge), frame.x + wide / 2), layout.width - wide / 2 - 2);
    layers.ridge.append(
      svg("path", { d: `M${x(ridge).toFixed(1)} ${frame.y - 2}V${bottom}` }),
      text({ x: centre, y: frame.y - 7, "text-anchor": "middle" }, label, small),
    );

    layers.roof.append(svg("path", { d: roofPath(device, roof.peak) }));
    for (const [m] of roof.sweep) drawMark(sweepPoint(spec, device, precision, m));
    // The label of the chosen point keeps off the roof as well: the line as a row of small marks.
    for (let px = frame.x; px <= right; px += 12) {
      const at = INTENSITY[0] * 10 ** ((px - frame.x) / (x(10) - x(1)));
      scene.line.push({ x: px, y: y(Math.min(roof.peak, device.bandwidth * at)) });
    }
  }

  /** "memory-bound" at the foot of its region: up to the first of the `ends` where it fits on one line or else on two. Whether it fits. */
  function nameRegion(bound, left, ends, baseline) {
    const { normal } = layout;
    for (const end of ends) {
      for (const lines of [[`${bound}-bound`], [`${bound}-`, "bound"]]) {
        // Bold, as it is where the point stands.
        const boxes = lines.map((line, i) => textBox(line, normal, left, baseline - (lines.length - 1 - i) * normal * 1.2, 700));
        if (boxes.some((box) => box.x + box.width > end || scene.names.some((name) => overlaps(box, name)))) continue;
        lines.forEach((line, i) => {
          layers.shade.append(text({ class: "rc-bound", "data-bound": bound, x: left, y: boxes[i].y + normal }, line, normal));
        });
        scene.forbidden.push(...boxes);
        return true;
      }
    }
    return false;
  }

  /** Of two regions one name alone is only shown while the point is there: else it would seem to be the point's. */
  function showNames(bound) {
    for (const word of layers.shade.querySelectorAll(".rc-bound")) {
      set(word, { visibility: scene.alone && word.dataset.bound !== bound ? "hidden" : "inherit" });
    }
  }

  function drawMark(v) {
    const at = { x: x(v.intensity), y: y(v.flop_per_s), m: v.m };
    const hint = `M = ${v.m}: ${time3(v.seconds)}, ${tflops(v.flop_per_s)}, ${percent(v.percent_of_roof)} of the roof`
      + doubtAbout(v);
    const mark = svg("g", { class: "rc-mark", role: "button", tabindex: "-1", "data-m": v.m, "data-lm-suppress-shortcuts": "true",
      "data-unstable": String(v.unstable), "aria-label": hint },
    svg("circle", { class: "rc-target", cx: at.x, cy: at.y, r: 11 }),
    svg("circle", { class: "rc-spot", cx: at.x, cy: at.y, r: layout.narrow ? 3.6 : 4.2 }));
    mark.addEventListener("click", () => onPick({ m: v.m }));
    for (const name of ["pointerenter", "focus"]) mark.addEventListener(name, () => onHint(hint, at.x, at.y));
    for (const name of ["pointerleave", "blur"]) mark.addEventListener(name, () => onHint(null));
    mark.addEventListener("keydown", (event) => markKey(event, v.m));
    at.node = mark;
    scene.marks.push(at);
    layers.marks.append(mark);
  }

  /** The points are one tab stop: arrows walk along them, Enter or space chooses one, Escape hides the note. */
  function markKey(event, m) {
    if (event.key === "Enter" || event.key === " ") onPick({ m });
    else if (event.key === "Escape") onHint(null);
    else {
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      const last = scene.marks.length - 1;
      const index = scene.marks.findIndex((mark) => mark.m === m);
      const next = scene.marks[Math.min(Math.max(index + steps[event.key], 0), last)];
      rove(next.m);
      next.node.focus();
    }
    event.preventDefault();
  }

  /** Make the mark of this M (or the nearest one below it) the one that Tab reaches. */
  function rove(m) {
    const below = scene.marks.filter((mark) => mark.m <= m);
    const stop = below.length > 0 ? below[below.length - 1] : scene.marks[0];
    for (const mark of scene.marks) set(mark.node, { tabindex: mark === stop ? "0" : "-1", "aria-pressed": String(mark.m === m) });
  }

  function createHere() {
    const part = (tag, name) => svg(tag, { class: name });
    here = {
      gap: part("path", "rc-gap"), ring: part("circle", "rc-chosen"), cross: part("path", "rc-cross"),
      card: part("rect", "rc-card"), lines: [0, 1, 2].map((i) => part("text", i === 0 ? "rc-reply" : "rc-detail")),
    };
    layers.here.replaceChildren(here.gap, here.cross, here.ring, here.card, ...here.lines);
  }

  /** Redraw what differs from the last call: the whole scene for another device or precision, else only the chosen point. */
  function show(state, values) {
    if (scene === null || scene.device !== state.device || scene.precision !== state.precision) drawScene(state, values.ridge_m);
    if (here === null) createHere();
    layers.here.setAttribute("visibility", values.available ? "visible" : "hidden");
    layers.here.toggleAttribute("data-unstable", values.unstable === true);
    set(node, { "data-bound": values.bound || "none", "aria-label": `Roofline chart. ${values.sentence}` });
    if (!values.available) return;

    showNames(values.bound);
    rove(values.m);
    const px = x(values.intensity);
    const roofY = y(values.attainable);
    const py = values.measured ? y(values.flop_per_s) : roofY;
    const bottom = layout.frame.y + layout.frame.height;
    set(here.gap, { d: values.measured ? `M${px} ${roofY}V${py}` : `M${px} ${roofY}V${bottom - 30}` });
    set(here.ring, { cx: px, cy: py, r: layout.narrow ? 6.5 : 7.5, visibility: values.measured ? "inherit" : "hidden" });
    set(here.cross, { d: `M${px - 8} ${py}h16M${px} ${py - 8}v16`, visibility: values.measured ? "hidden" : "inherit" });
    drawAnswer(values, px, py);
  }

  /** Time, throughput and percent of the roof, beside the point. */
  function drawAnswer(values, px, py) {
    const { normal, large, frame } = layout;
    const content = values.measured
      ? [`${time3(values.seconds)} at M = ${values.m}`, tflops(values.flop_per_s), `${percent(values.percent_of_roof)} of the roof`]
      : [`≥ ${time3(values.bound_seconds)} at M = ${values.m}`, `≤ ${tflops(values.attainable)}`, "model only, not measured"];
    const sizes = [large, normal, normal];
    const width = Math.max(...content.map((line, i) => textWidth(line, `${i === 0 ? 700 : 400} ${sizes[i]}px ${font()}`))) + 16;
    const size = { width, height: large + 2 * (normal + 4) + 14 };
    const marks = scene.marks.filter((mark) => Math.abs(mark.x - px) > 1 || Math.abs(mark.y - py) > 1);
    const inner = { x: frame.x + 2, y: frame.y + 2, width: frame.width - 4, height: frame.height - 4 };
    const box = placeNear({ x: px, y: py }, size, inner, scene.forbidden, [...marks, ...scene.line]);
    set(here.card, { x: box.x, y: box.y, width: size.width, height: size.height, rx: 5 });
    let baseline = box.y + 5 + large;
    here.lines.forEach((line, i) => {
      set(line, { x: box.x + 8, y: baseline, "font-size": sizes[i] });
      write(line, content[i]);
      baseline += normal + 5;
    });
  }

  /** The data have changed: the next `show` draws all of it. */
  function forget() {
    scene = null;
    if (lowestThroughput(spec.devices) !== range[0]) {
      const { width } = layout;
      layout = null;
      resize(width);
    }
  }

  return { node, resize, show, forget };
}

function doubtAbout(v) {
  if (v.suspect !== undefined) return `; suspect: ${v.suspect}`;
  if (!v.unstable) return "";
  return v.spread === undefined ? "; unstable" : `; unstable, interquartile range ${percent(100 * v.spread)} of the median`;
}

/** A filled circle as a path, so that a whole sweep is one node. */
function dot(cx, cy, r) {
  return `M${(cx - r).toFixed(1)} ${cy.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}
