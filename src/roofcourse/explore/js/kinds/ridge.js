// The explorer of chapter 3: rooflines of any cards and paths; at a movable intensity, which roof is higher and how sure.

import { createDecades, createPresets } from "../controls.js";
import { html, write } from "../dom.js";
import { intensity, rate, significant, tflopParts } from "../format.js";
import { register } from "../registry.js";
import { createTiles, showNote } from "../shell.js";
import { acceptWithin, titleOf } from "../spec.js";
import { createRidgeChart } from "./ridge_chart.js";
import { MARGIN, MOST_ROOFS, computeRidge, ridgeWithRun, roofOf, roofsOf } from "./ridge_model.js";

const I_RANGE = [0.1, 1e4];

function buildRidge(page) {
  const { root, spec, shell } = page;
  root.style.setProperty("--rc-device", "var(--rc-ink)"); // no one device's colour for the slider
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(
    createPresets(page, "preset", "Compare", "your own choice", spec.presets, ["roofs", "intensity"], ["roofs"]),
    createDecades(page, "intensity", "Arithmetic intensity I", "I", I_RANGE, intensity),
  );
  const choice = createChoiceOfRoofs(page, (roofs) => page.change({ roofs }), (text) => showNote(shell.note, text));
  shell.controls.after(choice.node);
  const chart = createRidgeChart(spec, page.font, (at) => page.change({ intensity: Number(at.toPrecision(3)) }));
  const tiles = createTiles(shell, { attainable: "The highest roof at I", percent_above: "Above the next", crossing: "The two highest cross at" });

  function readings(v) {
    const nameOf = (name) => roofOf(spec, name).title;
    const attainable = [tflopParts(v.attainable), `${nameOf(v.highest)}, ${v.bound}-bound`];
    const alone = [null, "one roof alone"];
    if (v.next === undefined) return { attainable, percent_above: alone, crossing: alone };
    const sure = { higher: "more than the uncertainty", equal: "equal within the uncertainty", same: "one slope" }[v.verdict];
    return {
      attainable,
      percent_above: [{ number: significant(v.percent_above, 2), unit: "%" }, `${nameOf(v.next)}: ${sure}`],
      crossing: [v.crossing === undefined ? null : { number: significant(v.crossing, 3), unit: "FLOP/byte" }, crossingRemark(v)],
    };
  }

  function show(now, v) {
    const roofs = roofsOf(spec, now.roofs);
    choice.show(roofs);
    chart.show(roofs, v);
    const own = new Set(roofs.filter(({ device: d }) => "own" in d).map(({ device: d }) => `; ${d.name}: run of ${d.own}`));
    return {
      tiles: readings(v),
      legend: `lines: the model with measured F and B (${spec.source}${[...own].join("")}); tints: other measurements of F`,
      tables: () => [[`at I = ${intensity(v.intensity)}; differences of up to ${MARGIN}\u00a0% do not count`,
        ["roof", "F, TFLOP/s", "F measured", "B", "ridge point", "at I, TFLOP/s", "bound"], roofRows(roofs, v)]],
    };
  }

  return { chart, tiles, table: "The roofs as a table", show };
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
function createChoiceOfRoofs({ spec, also }, onChange, say) {
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
  const scroller = html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": `All rooflines${also}`, "data-lm-suppress-shortcuts": "true" },
    html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows)));
  const node = html("details", { class: "rc-table rc-choose" }, summary, scroller);
  // On a phone most columns are out of sight: open where the ticks are, unless one of them is seen at once.
  node.addEventListener("toggle", () => {
    const seen = scroller.getBoundingClientRect();
    const ticks = chosen.map((name) => boxes.get(name).getBoundingClientRect());
    if (!node.open || ticks.some((tick) => tick.right <= seen.right)) return;
    scroller.scrollLeft += Math.min(...ticks.map((tick) => tick.right)) - (seen.left + seen.width * 0.75);
  });
  return {
    node,
    show(roofs) {
      chosen = roofs.map((roof) => roof.name);
      write(summary, `Choose rooflines (${chosen.length} of ${boxes.size} shown)`);
      for (const [name, box] of boxes) box.checked = chosen.includes(name);
    },
  };
}

/** The roofs in words, the highest first. */
function roofRows(roofs, v) {
  const tera = (value) => significant(value / 1e12, 3);
  const at = (roof) => v[`attainable:${roof.name}`];
  return [...roofs].sort((a, b) => at(b) - at(a)).map((roof) => [roof.title, tera(roof.peak),
    roof.low === roof.high ? "once" : `${tera(roof.low)} to ${tera(roof.high)}`, rate(roof.bandwidth), significant(roof.ridge, 3),
    tera(at(roof)), v[`bound:${roof.name}`]]);
}

register("ridge", {
  about: "rooflines and intensity",
  keys: ["intensity", "roofs"],
  compute: computeRidge,
  withRun: ridgeWithRun,
  build: buildRidge,
  accept(spec, key, text) {
    if (key === "intensity") return acceptWithin(text, I_RANGE);
    const names = text.split("~");
    const known = names.every((name) => roofOf(spec, name) !== undefined) && new Set(names).size === names.length;
    return known && names.length <= MOST_ROOFS ? text : undefined;
  },
});
