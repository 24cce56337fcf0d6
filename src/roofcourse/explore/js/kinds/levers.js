// The explorer of chapter 8: a kernel under a card's roofs, the levers applied to it, and where it moves.

import { createChoice } from "../controls.js";
import { html, write } from "../dom.js";
import { bytes, flop, significant, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { createTiles } from "../shell.js";
import { acceptName, sourceOf, titleOf } from "../spec.js";
import { createLeversChart } from "./levers_chart.js";
import { LEVER_REACHES, leverBound, chosenOf, computeLevers, leverOf, leversWithRun, walkLevers } from "./levers_model.js";

const LEVER_LANGUAGES = { less: "move less", compute: "compute better", both: "move less, compute better", lose: "lose less" };
const LEVER_SLOTS = 5; // the most levers that a kernel has

function buildLevers(page) {
  const { spec, shell } = page;
  const kernelOf = (now) => spec.kernels.find((k) => k.name === now.kernel);
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(
    createChoice(page, "kernel", "Kernel", spec.kernels.map((k) => [k.name, k.label]), { also: { levers: "none" }, wide: "rc-kernel" }),
    createChoice(page, "device", "Device", spec.devices.map((d) => [d.key, titleOf(d)])),
    createChoice(page, "reaches", "Before, it reaches", LEVER_REACHES.map((r) => [r, `${r}\u00a0% of its roof`])),
  );

  // One box a lever; the kernel of the moment says which lever each box is.
  let names = [];
  const boxes = Array.from({ length: LEVER_SLOTS }, (_, i) => {
    const input = html("input", { type: "checkbox", id: `${shell.prefix}-lever${i + 1}`, "data-rc-control": `lever${i + 1}`, "data-lm-suppress-shortcuts": "true" });
    const words = html("span");
    const language = html("span", { class: "rc-language" });
    input.addEventListener("change", () => toggle(names[i], input.checked));
    return { input, words, language, node: html("label", { class: "rc-lever", for: input.id }, input, words, language) };
  });
  const toggle = (name, on) => {
    const chosen = chosenOf(spec, { kernel: page.get("kernel"), levers: page.get("levers") }).filter((lever) => lever !== name);
    page.change({ levers: leversInOrder(spec, on ? [...chosen, name] : chosen) });
  };
  shell.controls.after(html("fieldset", { class: "rc-levers" }, html("legend", {}, "Levers"), ...boxes.map((box) => box.node)));

  const chart = createLeversChart(page.font, spec);
  const tiles = createTiles(shell, { before_seconds: "Time before", after_seconds: "Time after", gain: "Gain, by the model" });

  function showBoxes(now, chosen) {
    names = kernelOf(now).levers;
    boxes.forEach(({ input, words, language, node }, i) => {
      node.hidden = i >= names.length;
      if (node.hidden) return;
      const lever = leverOf(spec, names[i]);
      write(words, lever.label);
      write(language, LEVER_LANGUAGES[lever.language]);
      input.checked = chosen.includes(names[i]);
    });
  }

  function readings(v, chosen) {
    const took = (when) => (`${when}_seconds` in v
      ? [timeParts(v[`${when}_seconds`]), `I = ${significant(v[`${when}_intensity`], 3)}: ${leverBound(v[`${when}_bound`])}`]
      : [null, "no such roof measured"]);
    const gains = chosen.map((name) => `× ${significant(v[`gain:${name}`] || 1, 3)}`).join("  ") || "no lever applied";
    return {
      before_seconds: took("before"),
      after_seconds: took("after"),
      gain: v.available ? [{ number: significant(v.gain, 3), unit: "times as fast" }, gains] : [null, ""],
    };
  }

  function show(now, v, device) {
    const chosen = chosenOf(spec, now);
    const places = walkLevers(spec, now);
    showBoxes(now, chosen);
    chart.show(v, places, device, spec.paths);
    return {
      tiles: readings(v, chosen),
      legend: `crosses: the model, W and Q counted, bold where it stands now; roofs and launches measured (${sourceOf(spec, device)})`,
      tables: () => [[`${kernelOf(now).label}, on ${titleOf(device)}: each line with the levers above it`,
        ["step", "time", "gain", "I, FLOP/byte", "roof", "W", "Q", "language"], leverRows(spec, places, chosen, v)]],
    };
  }

  return { chart, tiles, table: "The steps as a table", show };
}

/** Names of levers in the order of the spec, joined as the state keeps them. */
function leversInOrder(spec, names) {
  return spec.levers.map((lever) => lever.name).filter((name) => names.includes(name)).join("~") || "none";
}

/** The way of the point in figures, lever by lever. */
function leverRows(spec, places, chosen, v) {
  return places.map((place, i) => {
    const lever = i > 0 && leverOf(spec, chosen[i - 1]);
    const gain = lever && v[`gain:${lever.name}`];
    return [
      lever ? lever.label : "before",
      ...(place === null ? ["–", "–", "–", "not measured", "–", "–"]
        : [time3(place.seconds), gain ? `× ${significant(gain, 3)}` : lever ? "–" : "", significant(place.intensity, 3),
          spec.paths[place.path], flop(place.flop), bytes(place.bytes)]),
      lever ? LEVER_LANGUAGES[lever.language] : "",
    ];
  });
}

register("levers", {
  about: "kernel, device and levers",
  keys: ["kernel", "device", "reaches", "levers"],
  compute: computeLevers,
  withRun: leversWithRun,
  build: buildLevers,
  accept(spec, key, text) {
    if (key === "device") return acceptName(spec, key, text);
    if (key === "kernel") return spec.kernels.some(({ name }) => name === text) ? text : undefined;
    if (key === "reaches") return LEVER_REACHES.includes(Number(text)) ? Number(text) : undefined;
    const names = text === "none" ? [] : text.split("~");
    return names.every((name) => leverOf(spec, name)) ? leversInOrder(spec, names) : undefined;
  },
});
