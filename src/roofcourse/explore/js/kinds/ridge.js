// The explorer of chapter 3: rooflines of any cards and paths; at a movable intensity, which roof is higher and how sure.

import { html, set, write } from "../dom.js";
import { intensity, rate, significant, tflopParts } from "../format.js";
import { register } from "../registry.js";
import {
  NOTHING, createSelect, createShell, createSlider, createTile, fontOf, labelled, placeSlider, showLink, showNote, titleOf, watchWidth,
} from "../shell.js";
import { createRidgeChart } from "./ridge_chart.js";
import { MARGIN, MOST_ROOFS, computeRidge, ridgeWithRun, roofOf, roofsOf } from "./ridge_model.js";

const I_RANGE = [0.1, 1e4];
const I_STEPS = 50; // a decade
const I_LAST = 5 * I_STEPS;

function mountRidge({ root, model, spec, host }) {
  const shell = createShell(root, "rooflines and intensity");
  root.style.setProperty("--rc-device", "var(--rc-ink)"); // no one device's colour for the slider
  const change = (values) => {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  };
  const setIntensity = (value) => change({ intensity: Number(value.toPrecision(3)) });

  const preset = createSelect([["", "your own choice"], ...spec.presets.map((p, i) => [String(i), p.label])], (index) => {
    if (index !== "") change({ roofs: spec.presets[Number(index)].roofs, intensity: spec.presets[Number(index)].intensity });
  });
  const slider = createSlider({
    last: I_LAST, page: I_STEPS, tolerance: 0.25, onMove: (position) => setIntensity(I_RANGE[0] * 10 ** (position / I_STEPS)),
  });
  const shown = html("output", { "data-rc-value": "intensity", "aria-hidden": "true" });
  const movable = labelled(shell, "intensity", "Arithmetic intensity I", slider, "rc-half");
  movable.querySelector("label").after(shown);
  set(shown, { for: slider.id });
  const choice = createChoice(spec, (roofs) => change({ roofs }), (text) => showNote(shell.note, text));
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(labelled(shell, "preset", "Compare", preset, "rc-kernel"), movable);
  shell.controls.after(choice.node);

  const chart = createRidgeChart(spec, () => fontOf(root), setIntensity);
  shell.stage.append(chart.node);
  const tiles = {
    attainable: createTile("The highest roof at I", "attainable"),
    percent_above: createTile("Above the next", "percent_above"),
    crossing: createTile("They cross at", "crossing"),
  };
  shell.tiles.classList.add("rc-three");
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));
  const table = createRoofTable();
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = html("p", { class: "rc-legend" });
  shell.foot.append(
    legend,
    ...(host.linkTo ? [link] : []), table.node,
  );

  function update() {
    const now = { intensity: model.get("intensity"), roofs: model.get("roofs") };
    const v = computeRidge(spec, now);
    const roofs = roofsOf(spec, now.roofs);
    placeSlider(slider, I_STEPS * Math.log10(now.intensity / I_RANGE[0]), `I = ${intensity(now.intensity)}`, I_LAST);
    write(shown, intensity(now.intensity));
    set(shown, { "data-rc-exact": String(now.intensity) });
    const index = spec.presets.findIndex((p) => p.roofs === now.roofs);
    preset.value = index < 0 ? "" : String(index);
    choice.show(roofs);
    chart.show(roofs, v);
    showTiles(v);
    const own = new Set(roofs.filter(({ device: d }) => "own" in d).map(({ device: d }) => `; ${d.name}: run of ${d.own}`));
    write(legend, `lines: the model with measured F and B (${spec.source}${[...own].join("")}); tints: what others measured for F`);
    table.show(roofs, v);
    write(shell.sentence, v.sentence);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  function showTiles(v) {
    const nameOf = (name) => roofOf(spec, name).title;
    tiles.attainable.show(tflopParts(v.attainable), v.attainable, `${nameOf(v.highest)}, ${v.bound}-bound`);
    if (v.next === undefined) {
      tiles.percent_above.show(NOTHING, undefined, "one roof alone");
      tiles.crossing.show(NOTHING, undefined, "one roof alone");
      return;
    }
    const sure = { higher: "more than the uncertainty", equal: "equal within the uncertainty", same: "one slope" }[v.verdict];
    tiles.percent_above.show({ number: significant(v.percent_above, 2), unit: "%" }, v.percent_above, `${nameOf(v.next)}: ${sure}`);
    const unit = { number: "–", unit: "" };
    tiles.crossing.show(v.crossing === undefined ? unit : { number: significant(v.crossing, 3), unit: "FLOP/byte" }, v.crossing, crossingRemark(v));
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return { update, note: (text) => showNote(shell.note, text), destroy: stop };
}

/** What the other measured values of F make of the crossing. */
function crossingRemark(v) {
  if (v.crossing_first === undefined) return "one lies above the other, or on it, everywhere";
  const first = significant(v.crossing_first, 3);
  if (v.crossing_last === undefined) return `with other measured F: from ${first} on, or never`;
  const last = significant(v.crossing_last, 3);
  return first === last ? "" : `with other measured F: ${first} to ${last}`;
}

/** A check box for every roof there is: cards down, paths across. */
function createChoice(spec, onChange, say) {
  const paths = [...new Set(spec.devices.flatMap((device) => Object.keys(device.roofs)))];
  const order = (path) => spec.precisions.findIndex((p) => p.name === path.split(".")[0]) + (path.includes(".") ? 100 : 0);
  paths.sort((a, b) => order(a) - order(b));
  const labelOf = (path) => roofOf(spec, `${spec.devices.find((d) => path in d.roofs).key}.${path}`).label;
  const boxes = new Map();
  let chosen = [];
  const toggle = (name, box) => {
    const next = box.checked ? [...chosen, name] : chosen.filter((other) => other !== name);
    const wrong = next.length === 0 ? "One roof at least has to stay." : next.length > MOST_ROOFS ? `At most ${MOST_ROOFS} roofs fit.` : "";
    if (wrong === "") onChange(next.join("~"));
    else box.checked = !box.checked;
    say(wrong);
  };
  const cell = (device, path) => {
    if (!(path in device.roofs)) return html("td", {}, "–");
    const name = `${device.key}.${path}`;
    const box = html("input", { type: "checkbox", "aria-label": roofOf(spec, name).title, "data-rc-control": name, "data-lm-suppress-shortcuts": "true" });
    box.addEventListener("change", () => toggle(name, box));
    boxes.set(name, box);
    return html("td", {}, box);
  };
  const head = html("tr", {}, html("td"), ...paths.map((path) => html("th", { scope: "col" }, labelOf(path))));
  const rows = spec.devices.map((device) => html("tr", {}, html("th", { scope: "row" }, titleOf(device)), ...paths.map((path) => cell(device, path))));
  const summary = html("summary", { "data-lm-suppress-shortcuts": "true" });
  const scroller = html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "All rooflines", "data-lm-suppress-shortcuts": "true" },
    html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows)));
  return {
    node: html("details", { class: "rc-table rc-choose" }, summary, scroller),
    show(roofs) {
      chosen = roofs.map((roof) => roof.name);
      write(summary, `Choose rooflines (${chosen.length} of ${boxes.size} shown)`);
      for (const [name, box] of boxes) box.checked = chosen.includes(name);
    },
  };
}

/** The roofs in words, the highest first. */
function createRoofTable() {
  const heads = ["roof", "F, TFLOP/s", "F measured", "B", "ridge point", "at I, TFLOP/s", "bound"];
  const body = html("tbody");
  const caption = html("caption");
  const node = html("details", { class: "rc-table" }, html("summary", { "data-lm-suppress-shortcuts": "true" }, "The roofs as a table"),
    html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "The roofs as a table", "data-lm-suppress-shortcuts": "true" },
      html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))), body)));
  const tera = (value) => significant(value / 1e12, 3);
  return {
    node,
    show(roofs, v) {
      const at = (roof) => v[`attainable:${roof.name}`];
      write(caption, `at I = ${intensity(v.intensity)}; differences of up to ${MARGIN}\u00a0% do not count`);
      body.replaceChildren(...[...roofs].sort((a, b) => at(b) - at(a)).map((roof) => html("tr", {}, html("th", { scope: "row" }, roof.title),
        ...[tera(roof.peak), roof.low === roof.high ? "once" : `${tera(roof.low)} to ${tera(roof.high)}`, rate(roof.bandwidth),
          significant(roof.ridge, 3), tera(at(roof)), v[`bound:${roof.name}`]].map((text) => html("td", {}, text)))));
    },
  };
}

register("ridge", {
  keys: ["intensity", "roofs"],
  compute: computeRidge,
  mount: mountRidge,
  withRun: ridgeWithRun,
  accept(spec, key, text) {
    if (key === "intensity") {
      const value = text.trim() === "" ? NaN : Number(text);
      return value >= I_RANGE[0] && value <= I_RANGE[1] ? value : undefined;
    }
    const names = text.split("~");
    const known = names.every((name) => roofOf(spec, name) !== undefined) && new Set(names).size === names.length;
    return known && names.length <= MOST_ROOFS ? text : undefined;
  },
});
