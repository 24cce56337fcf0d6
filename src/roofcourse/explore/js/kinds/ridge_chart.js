// Several rooflines on axes that are the same for every state, and an upright line at the chosen intensity.

import { set, svg } from "../dom.js";
import { intensity, tflops, tick } from "../format.js";
import { placeNear, spread, textWidth } from "../labels.js";
import { decades, logScale, lowestThroughput, seenWith } from "../scale.js";
import { labelOf } from "../spec.js";
import { colourBy } from "../shell.js";
import { crossingOf } from "./ridge_model.js";

const RANGE = { x: [0.1, 1e4], y: [0.02e12, 1e16] }; // FLOP/byte, FLOP/s; lower where an own device has less bandwidth

/** Above this many roofs their crossings would only be noise. */
const MOST_CROSSED = 4;

const line = (pairs) => `M${pairs.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

/** onPick(intensity) is called when a reader clicks or drags in the plot. */
export function createRidgeChart(spec, font, onPick) {
  const range = [lowestThroughput(spec.devices), RANGE.y[1]];
  const node = svg("svg", { class: "rc-chart rc-pickable", role: "img" });
  const layers = Object.fromEntries(["grid", "roofs", "here"].map((name) => [name, svg("g", { class: `rc-${name}` })]));
  node.append(...Object.values(layers));
  let width = 0;
  let box = null; // the plot, in pixels
  let x = null;
  let y = null;

  const valueAt = (event) => {
    const share = (event.clientX - node.getBoundingClientRect().left - box.x) / box.width;
    return RANGE.x[0] * (RANGE.x[1] / RANGE.x[0]) ** Math.min(Math.max(share, 0), 1);
  };
  for (const name of ["pointerdown", "pointermove"]) {
    node.addEventListener(name, (event) => { if (event.buttons === 1 && event.pointerType === "mouse") onPick(valueAt(event)); });
  }
  node.addEventListener("click", (event) => onPick(valueAt(event))); // a finger that moves scrolls the page, one that taps picks

  /** What the names at the right end have to say: only that in which the roofs differ. */
  function namesOf(roofs) {
    const devices = new Set(roofs.map((roof) => roof.device));
    const labels = new Set(roofs.map((roof) => roof.label));
    if (devices.size > 1 && labels.size === 1) return roofs.map((roof) => labelOf(roof.device));
    return roofs.map((roof) => (devices.size === 1 && labels.size > 1 ? roof.label : `${labelOf(roof.device)} ${roof.label}`));
  }

  function drawGrid(right, size, height) {
    const bottom = box.y + box.height;
    const up = (v) => `M${x(v).toFixed(1)} ${box.y}V${bottom}`;
    const across = (v) => `M${box.x} ${y(v).toFixed(1)}H${right}`;
    const text = (content, attributes) => svg("text", { "font-size": size, ...attributes }, content);
    const all = decades(...RANGE.x);
    const tight = box.width / (all.length - 1) < textWidth(tick(RANGE.x[1]), `400 ${size}px ${font()}`) + 6;
    const intensities = tight ? all.filter((_, i) => i % 2 === 1) : all;
    layers.grid.replaceChildren(
      svg("path", { class: "rc-major", d: decades(...RANGE.x).map(up).join("") + decades(...range).map(across).join("") }),
      svg("path", { class: "rc-axis", d: `M${box.x} ${bottom}H${right}` }),
      ...intensities.map((v) => text(tick(v), { x: x(v), y: bottom + 17, "text-anchor": "middle" })),
      ...decades(...range).map((v) => text(tick(v / 1e12), { x: box.x - 8, y: y(v) + 4, "text-anchor": "end" })),
      text("arithmetic intensity (FLOP/byte)", { class: "rc-title", x: box.x + box.width / 2, y: height - 8, "text-anchor": "middle", "font-size": size + 1 }),
      text("throughput (TFLOP/s)", { class: "rc-title", x: 2, y: 13, "font-size": size + 1 }),
    );
  }

  const heightAt = (roof, peak, at) => y(Math.min(peak, roof.bandwidth * at));
  const cornersOf = (roof, peak) => [RANGE.x[0], peak / roof.bandwidth, RANGE.x[1]].map((at) => [x(at), heightAt(roof, peak, at)]);

  function drawRoofs(roofs, highest, size) {
    const right = box.x + box.width;
    const wishes = roofs.map((roof) => y(roof.peak));
    const places = spread(wishes, size + 3, box.y + 4, box.y + box.height - 4);
    layers.roofs.replaceChildren(...roofs.map((roof, i) => {
      const group = svg("g", { class: "rc-own", "data-roof": roof.name });
      colourBy(group, roof.device);
      if (roof.high > 1.005 * roof.low) {
        group.append(svg("path", { class: "rc-band", d: `${line([...cornersOf(roof, roof.low), ...cornersOf(roof, roof.high).reverse()])}Z` }));
      }
      const joint = `M${x(roof.ridge).toFixed(1)} ${(wishes[i] - 6).toFixed(1)}v12`;
      const thin = roof.path.endsWith(".vector") && "rc-thin";
      group.append(
        svg("path", { class: `rc-line ${thin || ""}`, d: line(cornersOf(roof, roof.peak)) + joint }),
        svg("path", { class: "rc-leader", d: line([[right + 1, wishes[i]], [right + 8, places[i]]]) }),
        svg("text", { x: right + 11, y: places[i] + size * 0.36, "font-size": size, "font-weight": roof.name === highest ? 700 : 400 }, namesOf(roofs)[i]),
      );
      return group;
    }));
    if (roofs.length <= MOST_CROSSED) layers.roofs.append(...crossingMarks(roofs));
  }

  function crossingMarks(roofs) {
    return roofs.flatMap((a, i) => roofs.slice(i + 1).flatMap((b) => {
      const at = crossingOf(a.peak, a.bandwidth, b.peak, b.bandwidth);
      if (at === undefined) return [];
      return [svg("circle", { class: "rc-crossing", "data-rc-exact": at, cx: x(at), cy: y(Math.min(a.peak, a.bandwidth * at)), r: 6 })];
    }));
  }

  function resize(now) {
    const changed = now !== width;
    width = now;
    return changed;
  }

  function show(roofs, v) {
    const narrow = width < 560;
    const size = narrow ? 11 : 12;
    const room = 16 + Math.max(...namesOf(roofs).map((name) => textWidth(name, `700 ${size}px ${font()}`)));
    const height = narrow ? 390 : seenWith(Math.round(Math.min(540, Math.max(430, width * 0.62))));
    const left = narrow ? 44 : 56;
    box = { x: left, y: 30, width: width - left - room, height: height - 76 };
    x = logScale(...RANGE.x, box.x, box.x + box.width);
    y = logScale(...range, box.y + box.height, box.y);
    set(node, { width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": `Rooflines on logarithmic axes. ${v.sentence}` });
    drawGrid(box.x + box.width, size, height);
    drawRoofs(roofs, v.highest, size);
    drawHere(roofs, v, size + 2);
  }

  /** The upright line, a tick on every roof, and the answer beside the highest. */
  function drawHere(roofs, v, size) {
    const px = x(v.intensity);
    const py = y(v.attainable);
    const ticks = roofs.map((roof) => `M${(px - 5).toFixed(1)} ${heightAt(roof, roof.peak, v.intensity).toFixed(1)}h10`);
    const words = [tflops(v.attainable), roofs.find((roof) => roof.name === v.highest).title, `I = ${intensity(v.intensity)}`];
    const wide = 16 + Math.max(...words.map((word) => textWidth(word, `700 ${size}px ${font()}`)));
    const lines = roofs.flatMap((roof) => cornersAlong(roof));
    const at = placeNear({ x: px, y: py }, { width: wide, height: 3 * (size + 5) + 6 }, box, [], lines);
    layers.here.replaceChildren(
      svg("path", { class: "rc-gap", d: `M${px.toFixed(1)} ${box.y}V${box.y + box.height}` }),
      svg("path", { class: "rc-cross", d: `${ticks.join("")}M${px.toFixed(1)} ${(py - 8).toFixed(1)}v16` }),
      svg("rect", { class: "rc-card", x: at.x, y: at.y, width: wide, height: 3 * (size + 5) + 6, rx: 5 }),
      ...words.map((word, i) => svg("text", { class: i === 0 ? "rc-reply" : "", x: at.x + 8, y: at.y + (i + 1) * (size + 5) - 2, "font-size": size }, word)),
    );
  }

  /** A roof as a row of small marks, for the card to keep off. */
  function cornersAlong(roof) {
    const marks = [];
    for (let px = box.x; px <= box.x + box.width; px += 14) {
      const at = RANGE.x[0] * (RANGE.x[1] / RANGE.x[0]) ** ((px - box.x) / box.width);
      marks.push({ x: px, y: heightAt(roof, roof.peak, at) });
    }
    return marks;
  }

  return { node, resize, show };
}
