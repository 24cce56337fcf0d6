// The explorer of chapter 8: a kernel under a card's roofs, the levers applied to it, and where it moves.

import { html, set, write } from "../dom.js";
import { bytes, flop, significant, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import {
  NOTHING, colourBy, createSelect, createShell, createTile, fontOf, labelled, showLink, showNote, sourceOf, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf } from "../spec.js";
import { createLeversChart } from "./levers_chart.js";
import { LEVER_REACHES, leverBound, chosenOf, computeLevers, leverOf, leversWithRun, walkLevers } from "./levers_model.js";

const LEVER_LANGUAGES = { less: "move less", compute: "compute better", lose: "lose less" };
const LEVER_SLOTS = 5; // the most levers that a kernel has

function mountLevers({ root, model, spec, host }) {
  const shell = createShell(root, "kernel, device and levers");
  const change = (values) => {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  };
  const kernel = createSelect(spec.kernels.map((k) => [k.name, k.label]), (value) => change({ kernel: value, levers: "none" }));
  const device = createSelect(spec.devices.map((d) => [d.key, titleOf(d)]), (value) => change({ device: value }));
  const reaches = createSelect(LEVER_REACHES.map((r) => [String(r), `${r}\u00a0% of its roof`]), (value) => change({ reaches: Number(value) }));
  shell.controls.classList.add("rc-bounds");
  shell.controls.append(
    labelled(shell, "kernel", "Kernel", kernel, "rc-kernel"),
    labelled(shell, "device", "Device", device),
    labelled(shell, "reaches", "Before, it reaches", reaches),
  );

  // One box a lever; the kernel of the moment says which lever each box is.
  let names = [];
  const boxes = Array.from({ length: LEVER_SLOTS }, (_, i) => {
    const input = html("input", { type: "checkbox", id: `${shell.prefix}-lever${i + 1}`, "data-rc-control": `lever${i + 1}`, "data-lm-suppress-shortcuts": "true" });
    const words = html("span");
    const language = html("span", { class: "rc-language" });
    const node = html("label", { class: "rc-lever", for: input.id }, input, words, language);
    input.addEventListener("change", () => toggle(names[i], input.checked));
    return { input, words, language, node };
  });
  const toggle = (name, on) => {
    const chosen = chosenOf(spec, { kernel: model.get("kernel"), levers: model.get("levers") }).filter((lever) => lever !== name);
    change({ levers: leversInOrder(spec, on ? [...chosen, name] : chosen) });
  };
  shell.controls.after(html("fieldset", { class: "rc-levers" }, html("legend", {}, "Levers"), ...boxes.map((box) => box.node)));

  const chart = createLeversChart(() => fontOf(root), spec);
  shell.stage.append(chart.node);
  const tiles = {
    before_seconds: createTile("Time before", "before_seconds"),
    after_seconds: createTile("Time after", "after_seconds"),
    gain: createTile("Gain, by the model", "gain"),
  };
  shell.tiles.classList.add("rc-three");
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));
  const table = createLeverTable(spec);
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = html("p", { class: "rc-legend" });
  shell.foot.append(
    legend,
    ...(host.linkTo ? [link] : []), table.node,
  );

  function update() {
    const now = Object.fromEntries(["kernel", "device", "reaches", "levers"].map((key) => [key, model.get(key)]));
    const v = computeLevers(spec, now);
    const card = deviceOf(spec, now.device);
    const chosen = chosenOf(spec, now);
    const places = walkLevers(spec, now);
    names = spec.kernels.find((k) => k.name === now.kernel).levers;
    kernel.value = now.kernel;
    device.value = now.device;
    reaches.value = String(now.reaches);
    boxes.forEach(({ input, words, language, node }, i) => {
      node.hidden = i >= names.length;
      if (node.hidden) return;
      const lever = leverOf(spec, names[i]);
      write(words, lever.label);
      write(language, LEVER_LANGUAGES[lever.language]);
      input.checked = chosen.includes(names[i]);
    });
    colourBy(root, card);
    chart.show(v, places, card, spec.paths);
    if ("before_seconds" in v) tiles.before_seconds.show(timeParts(v.before_seconds), v.before_seconds, `I = ${significant(v.before_intensity, 3)}: ${leverBound(v.before_bound)}`);
    else tiles.before_seconds.show(NOTHING, undefined, "no such roof measured");
    if (v.available) {
      tiles.after_seconds.show(timeParts(v.after_seconds), v.after_seconds, `I = ${significant(v.after_intensity, 3)}: ${leverBound(v.after_bound)}`);
      tiles.gain.show({ number: significant(v.gain, 3), unit: "times as fast" }, v.gain, chosen.length === 0 ? "no lever applied" : chosen.map((name) => `× ${significant(v[`gain:${name}`] || 1, 3)}`).join("  "));
    } else {
      tiles.after_seconds.show(NOTHING, undefined, "no such roof measured");
      tiles.gain.show(NOTHING, undefined, "");
    }
    write(shell.sentence, v.sentence);
    const { label: kernelName } = spec.kernels.find((k) => k.name === now.kernel);
    table.show(places, chosen, v, `${kernelName}, on ${titleOf(card)}: each line with the levers above it`);
    write(legend, `points: the model, W and Q counted; roofs and launches measured (${sourceOf(spec, card)})`);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return { update, note: (text) => showNote(shell.note, text), destroy: stop };
}

/** Names of levers in the order of the spec, joined as the state keeps them. */
function leversInOrder(spec, names) {
  return spec.levers.map((lever) => lever.name).filter((name) => names.includes(name)).join("~") || "none";
}

/** The way of the point in figures, lever by lever. */
function createLeverTable(spec) {
  const heads = ["step", "language", "W", "Q", "I, FLOP/byte", "roof", "time", "gain"];
  const body = html("tbody");
  const caption = html("caption");
  const node = html("details", { class: "rc-table" }, html("summary", { "data-lm-suppress-shortcuts": "true" }, "The steps as a table"),
    html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "The steps as a table", "data-lm-suppress-shortcuts": "true" },
      html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))), body)));
  const row = (name, language, place, gain) => html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, language),
    ...(place === null ? ["–", "–", "–", "not measured", "–", "–"]
      : [flop(place.flop), bytes(place.bytes), significant(place.intensity, 3), spec.paths[place.path], time3(place.seconds), gain]).map((text) => html("td", {}, text)));
  return {
    node,
    show(places, chosen, v, title) {
      write(caption, title);
      body.replaceChildren(...places.map((place, i) => {
        if (i === 0) return row("before", "", place, "");
        const lever = leverOf(spec, chosen[i - 1]);
        const gain = v[`gain:${lever.name}`];
        return row(lever.label, LEVER_LANGUAGES[lever.language], place, gain === undefined ? "–" : `× ${significant(gain, 3)}`);
      }));
    },
  };
}

register("levers", {
  keys: ["kernel", "device", "reaches", "levers"],
  compute: computeLevers,
  withRun: leversWithRun,
  mount: mountLevers,
  accept(spec, key, text) {
    if (key === "device") return acceptName(spec, key, text);
    if (key === "kernel") return spec.kernels.some(({ name }) => name === text) ? text : undefined;
    if (key === "reaches") return LEVER_REACHES.includes(Number(text)) ? Number(text) : undefined;
    const names = text === "none" ? [] : text.split("~");
    return names.every((name) => leverOf(spec, name)) ? leversInOrder(spec, names) : undefined;
  },
});
