// The traffic as one stacked bar, and the intensity on a fixed logarithmic axis between the ridge points of the cards.

import { set, svg, write } from "../dom.js";
import { bytes, intensity, percent3, significant, tick } from "../format.js";
import { textWidth } from "../labels.js";
import { betweenDecades, decades, logScale } from "../scale.js";

// From the smallest to the largest that the sizes and precisions can give, rounded outwards.
const SPAN = [0.05, 20000];
const SHORT = { x: "X", a: "A", y: "Y", scales: "scales" };
const BAR_TOP = 26;
const BAR_FOOT = 66;
const BAND_TOP = 176;
const BAND_FOOT = 216;
const FOOT = 262;

export function createIntensityChart(font) {
  const node = svg("svg", { class: "rc-chart", role: "img" });
  const total = svg("text", { class: "rc-row-title", x: 1, y: 16 });
  const pieces = Object.keys(SHORT).map((part) => ({
    part,
    bar: svg("rect", { class: `rc-part rc-part-${part}`, y: BAR_TOP, height: BAR_FOOT - BAR_TOP }),
    letter: svg("text", { class: "rc-letter", y: (BAR_TOP + BAR_FOOT) / 2 + 7, "text-anchor": "middle", "font-size": 20, "font-weight": 700 }),
    key: svg("rect", { class: `rc-part rc-part-${part}`, y: BAR_FOOT + 12, width: 11, height: 11 }),
    share: svg("text", { y: BAR_FOOT + 22, "data-rc-value": `percent_${part}` }),
    size: svg("text", { class: "rc-row-title", y: BAR_FOOT + 39 }),
  }));
  const regions = { memory: svg("rect", { class: "rc-region", "data-bound": "memory" }), compute: svg("rect", { class: "rc-region", "data-bound": "compute" }) };
  const words = { memory: svg("text", { class: "rc-row-title", "text-anchor": "end" }), compute: svg("text", { class: "rc-row-title" }) };
  for (const region of Object.values(regions)) set(region, { y: BAND_TOP, height: BAND_FOOT - BAND_TOP });
  for (const text of Object.values(words)) set(text, { y: BAND_TOP + 18 });
  const grid = svg("g", { class: "rc-grid" });
  const others = svg("path", { class: "rc-ridges" });
  const ridge = svg("path", { class: "rc-own-ridge" });
  const ridgeName = svg("text", { class: "rc-own-name", y: BAND_TOP - 36, "text-anchor": "middle" });
  const pin = svg("path", { class: "rc-gap" });
  const dot = svg("circle", { class: "rc-chosen", cy: (BAND_TOP + BAND_FOOT) / 2, r: 8 });
  const answer = svg("text", { class: "rc-reply rc-halo", y: BAND_TOP - 13, "text-anchor": "middle" });
  node.append(total, ...pieces.flatMap((p) => [p.bar, p.letter, p.key, p.share, p.size]), ...Object.values(regions), grid,
    others, ridge, ...Object.values(words), ridgeName, pin, dot, answer);

  let width = 0;
  let x = null;

  function resize(now) {
    if (now === width) return false;
    width = now;
    const narrow = width < 560;
    x = logScale(...SPAN, 1, width - 2);
    set(node, { width, height: FOOT, viewBox: `0 0 ${width} ${FOOT}`, "font-size": narrow ? 12 : 13 });
    const line = (value) => `M${x(value).toFixed(1)} ${BAND_TOP}V${BAND_FOOT}`;
    const major = decades(...SPAN);
    grid.replaceChildren(
      svg("path", { class: "rc-minor", d: betweenDecades(...SPAN).map(line).join("") }),
      svg("path", { class: "rc-major", d: major.map(line).join("") }),
      svg("path", { class: "rc-axis", d: `M1 ${BAND_FOOT}H${width - 1}` }),
      ...major.map((value) => svg("text", { x: x(value), y: BAND_FOOT + 17, "text-anchor": "middle" }, tick(value))),
      svg("text", { class: "rc-title", x: width / 2, y: FOOT - 8, "text-anchor": "middle" }, "arithmetic intensity (FLOP/byte)"),
    );
    return true;
  }

  const widthOf = (text, size, weight) => textWidth(text, `${weight} ${size}px ${font()}`);
  /** The middle of a text of this width, as near to `at` as the edges allow. */
  const centred = (at, room) => Math.min(Math.max(at, room / 2 + 1), width - room / 2 - 1);

  /** `ridges` are the ridge points of the other devices in this precision. */
  function show(v, deviceName, ridges) {
    set(node, { "aria-label": `The traffic as a stacked bar, and the intensity on a logarithmic axis. ${v.sentence}` });
    write(total, `traffic Q = ${bytes(v.bytes)}, of which`);
    showParts(v);
    const foot = (value) => `M${x(value).toFixed(1)} ${BAND_FOOT - 11}V${BAND_FOOT}`;
    set(others, { d: ridges.map(foot).join("") });
    const size = width < 560 ? 14 : 16;
    const text = `I = ${intensity(v.intensity)}`;
    const here = x(v.intensity);
    write(answer, text);
    set(answer, { x: centred(here, widthOf(text, size, 700) + 8), "font-size": size });
    set(pin, { d: `M${here.toFixed(1)} ${BAND_TOP - 8}V${BAND_FOOT}` });
    set(dot, { cx: here });
    showRidge(v, deviceName);
  }

  function showParts(v) {
    const present = pieces.filter(({ part }) => v[`bytes_${part}`] > 0);
    let left = 1;
    for (const piece of pieces) {
      const { part } = piece;
      const share = v[`percent_${part}`];
      const across = ((width - 2) * share) / 100;
      const rank = present.indexOf(piece);
      for (const key of ["bar", "letter", "key", "share", "size"]) set(piece[key], { visibility: rank < 0 ? "hidden" : null });
      set(piece.bar, { x: left, width: rank < 0 ? 0 : Math.max(across, 0.5) });
      write(piece.letter, across > 26 && part !== "scales" && rank >= 0 ? SHORT[part] : "");
      set(piece.letter, { x: left + across / 2 });
      left += across;
      const column = 1 + Math.max(rank, 0) * (width - 2) * (present.length > 3 ? 0.23 : 1 / 3); // "scales" is the longest, and last
      write(piece.share, rank < 0 ? "" : `${SHORT[part]} ${share < 0.1 ? "< 0.1\u00a0%" : percent3(share)}`);
      write(piece.size, rank < 0 ? "" : bytes(v[`bytes_${part}`]));
      set(piece.key, { x: column });
      set(piece.share, { x: column + 17, "data-rc-exact": String(share) });
      set(piece.size, { x: column + 17 });
    }
  }

  function showRidge(v, deviceName) {
    const at = v.available ? x(v.ridge_point) : null;
    set(regions.memory, { x: 1, width: at === null ? 0 : at - 1 });
    set(regions.compute, { x: at === null ? 1 : at, width: at === null ? 0 : width - 1 - at });
    set(ridge, { d: at === null ? "" : `M${at.toFixed(1)} ${BAND_TOP - 30}V${BAND_FOOT}` });
    const name = at === null ? "" : `${deviceName}: ridge point ${significant(v.ridge_point, 3)}`;
    write(ridgeName, name);
    set(ridgeName, { x: at === null ? 0 : centred(at, widthOf(name, width < 560 ? 12 : 13, 600) + 8) });
    for (const side of ["memory", "compute"]) {
      const text = `${side}-bound`;
      const room = at === null ? 0 : side === "memory" ? at : width - at;
      const need = widthOf(text, 13, 400) + 20;
      // The words give way to the dot.
      const from = side === "memory" ? at - need : at;
      const here = x(v.intensity);
      const free = here < from - 8 || here > from + need + 8;
      write(words[side], room > need && free ? text : "");
      if (at !== null) set(words[side], { x: side === "memory" ? at - 8 : at + 8 });
    }
  }

  return { node, resize, show };
}
