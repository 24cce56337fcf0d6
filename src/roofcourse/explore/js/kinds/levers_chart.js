// A kernel before and after, the way between, and the roofs over both, on axes that are the same for every state.

import { set, svg } from "../dom.js";
import { significant, tflops, tick, time3 } from "../format.js";
import { placeNear, textWidth } from "../labels.js";
import { decades, logScale, lowestThroughput, seenWith } from "../scale.js";

// FLOP/byte and FLOP/s; the same as standin_levers.py.
const LEVER_RANGE = { x: [0.01, 1e4], y: [1e9, 1e16] };
const SAME = 9; // pixels: crosses nearer than this lie on each other
const ARM = 9; // pixels: of the cross where it stands now
const LEAST = 0.0075; // FLOP/byte; no kernel's point is lower on a device than B times this, its launches aside

const leverLine = (pairs) => `M${pairs.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

export function createLeversChart(font, spec) {
  const range = [lowestThroughput(spec.devices, LEVER_RANGE.y[0], LEAST), LEVER_RANGE.y[1]];
  const node = svg("svg", { class: "rc-chart", role: "img" });
  const layers = Object.fromEntries(["grid", "roofs", "here"].map((name) => [name, svg("g", { class: `rc-${name}` })]));
  node.append(...Object.values(layers));
  let width = 0;
  let box = null; // the plot, in pixels
  let x = null;
  let y = null;
  let size = 12;

  function resize(now) {
    const changed = now !== width;
    width = now;
    if (!changed) return false;
    const narrow = width < 560;
    size = narrow ? 11 : 12;
    const height = narrow ? 390 : seenWith(Math.round(Math.min(520, Math.max(420, width * 0.6))));
    const left = narrow ? 52 : 60;
    box = { x: left, y: 30, width: width - left - 10, height: height - 76 };
    x = logScale(...LEVER_RANGE.x, box.x, box.x + box.width);
    y = logScale(...range, box.y + box.height, box.y);
    set(node, { width, height, viewBox: `0 0 ${width} ${height}` });
    const [right, bottom] = [box.x + box.width, box.y + box.height];
    const up = (v) => `M${x(v).toFixed(1)} ${box.y}V${bottom}`;
    const across = (v) => `M${box.x} ${y(v).toFixed(1)}H${right}`;
    const text = (content, attributes) => svg("text", { "font-size": size, ...attributes }, content);
    layers.grid.replaceChildren(
      svg("path", { class: "rc-major", d: decades(...LEVER_RANGE.x).map(up).join("") + decades(...range).map(across).join("") }),
      svg("path", { class: "rc-axis", d: `M${box.x} ${bottom}H${right}` }),
      // On a phone every second decade has its number.
      ...decades(...LEVER_RANGE.x).filter((_, i) => !narrow || i % 2 === 0)
        .map((v) => text(tick(v), { x: Math.min(x(v), right - 14), y: bottom + 17, "text-anchor": "middle" })),
      ...decades(...range).map((v) => text(tick(v / 1e12), { x: box.x - 8, y: y(v) + 4, "text-anchor": "end" })),
      text("arithmetic intensity (FLOP/byte)", { class: "rc-title", x: box.x + box.width / 2, y: height - 8, "text-anchor": "middle", "font-size": size + 1 }),
      text("throughput (TFLOP/s)", { class: "rc-title", x: 2, y: 13, "font-size": size + 1 }),
    );
    return true;
  }

  const widthOf = (words, weight = 400, px = size) => textWidth(words, `${weight} ${px}px ${font()}`);

  /** `places`: before, and after each lever (null where the card has no such roof). `names`: words of the paths. */
  function show(v, places, card, names) {
    set(node, { "aria-label": `Roofline chart on logarithmic axes. ${v.sentence}` });
    const there = places.filter((place) => place !== null);
    if (there.length === 0) {
      layers.roofs.replaceChildren();
      layers.here.replaceChildren(svg("text", { class: "rc-absent", x: box.x + box.width / 2, y: box.y + box.height / 2, "text-anchor": "middle", "font-size": size + 3 }, "no such roof measured"));
      return;
    }
    const last = there[there.length - 1];
    const taken = drawRoofs(there, last, card, names);
    drawHere(v, places, there, last, taken);
  }

  /** The roofs over the points; returns the boxes of their names. */
  function drawRoofs(there, last, card, names) {
    const roofs = [...new Map(there.map((place) => [place.path, place])).values()].sort((a, b) => b.peak - a.peak);
    const heightAt = (peak, at) => y(Math.min(peak, card.bandwidth * at));
    const parts = [];
    const taken = [];
    let above = -Infinity;
    for (const { path, peak } of roofs) {
      const own = path === last.path;
      const corners = [LEVER_RANGE.x[0], peak / card.bandwidth, LEVER_RANGE.x[1]].map((at) => [x(at), heightAt(peak, at)]);
      parts.push(svg("path", { class: own ? "rc-line" : "rc-faint", d: leverLine(corners) }));
      // Above its roof, or below where a higher roof is too near.
      const words = `${names[path]}: ${tflops(peak)}`;
      const weight = own ? 700 : 400;
      const long = widthOf(words, weight);
      const crossed = there.some((place) => Math.abs(y(place.flop_per_s) - y(peak)) < ARM && x(place.intensity) > box.x + box.width - long - 2 - ARM);
      const at = y(peak) - size - 8 < above ? y(peak) + size + 3 : y(peak) - (crossed ? ARM + 3 : 6);
      above = y(peak);
      parts.push(svg("text", { class: "rc-halo", x: box.x + box.width - 2, y: at, "text-anchor": "end", "font-size": size, "font-weight": weight }, words));
      taken.push({ x: box.x + box.width - long - 6, y: at - size, width: long + 8, height: size + 5 });
    }
    layers.roofs.replaceChildren(...parts);
    return taken;
  }

  function drawHere(v, places, there, last, taken) {
    const spots = there.map((place) => ({ x: x(place.intensity), y: y(place.flop_per_s) }));
    const parts = [svg("path", { class: "rc-gap", d: leverLine(spots.map((spot) => [spot.x, spot.y])) })];
    spots.forEach((spot, i) => {
      // Crosses, since no point here is measured.
      const end = i === spots.length - 1;
      const arm = end ? ARM : i === 0 ? 7 : 4;
      const d = `M${(spot.x - arm).toFixed(1)} ${spot.y.toFixed(1)}h${2 * arm}m${-arm} ${-arm}v${2 * arm}`;
      parts.push(svg("path", { class: end ? "rc-cross rc-now" : "rc-cross", d }));
    });
    const marks = spots.flatMap((spot, i) => (i === 0 ? [spot] : [0.25, 0.5, 0.75, 1].map((s) => ({
      x: spots[i - 1].x + s * (spot.x - spots[i - 1].x), y: spots[i - 1].y + s * (spot.y - spots[i - 1].y) }))));
    const px = size + 3;
    const answer = places.length === 1 ? [time3(v.before_seconds)]
      : v.available ? [`${time3(v.before_seconds)} to ${time3(v.after_seconds)}`, `×\u00a0${significant(v.gain, 3)}`] : ["no such roof measured"];
    const wide = (lines) => Math.max(...lines.map((line) => widthOf(line, 700, px))) + 16;
    // On a phone one line would leave no room beside the way.
    const lines = wide([answer.join(": ")]) < box.width * 0.6 ? [answer.join(": ")] : answer;
    const [long, high] = [wide(lines), lines.length * (px + 4) + 8];
    const boxes = [...taken, ...spots.map((spot) => ({ x: spot.x - ARM, y: spot.y - ARM, width: 2 * ARM, height: 2 * ARM }))];
    if (spots.length > 1) { // first, for there are few places where it names the right cross
      const word = { width: widthOf("before") + 4, height: size + 4 };
      const others = spots.filter((spot) => Math.hypot(spot.x - spots[0].x, spot.y - spots[0].y) > SAME);
      const near = placeNear(spots[0], word, box, boxes, marks, others);
      parts.push(svg("text", { class: "rc-halo", x: near.x + 2, y: near.y + size, "font-size": size }, "before"));
      boxes.push({ ...near, ...word });
    }
    const card = placeNear(spots[spots.length - 1], { width: long, height: high }, box, boxes, marks);
    parts.push(
      svg("rect", { class: "rc-card", x: card.x, y: card.y, width: long, height: high, rx: 5 }),
      ...lines.map((line, i) => svg("text", { class: "rc-reply", x: card.x + 8, y: card.y + px + 3 + i * (px + 4), "font-size": px }, line)),
    );
    layers.here.replaceChildren(...parts);
  }

  return { node, resize, show };
}
