// The explorer of chapter 6: a model, a card, a batch and a prompt length, and the least time of a decode step.

import { html, set, write } from "../dom.js";
import { bytes, percent3, significant, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import {
  NOTHING, colourBy, createSelect, createShell, createSlider, createTile, fontOf, labelled, markAbsent, placeSlider,
  showLink, showNote, titleOf, watchWidth,
} from "../shell.js";
import { acceptName, deviceOf, labelOf } from "../spec.js";
import { createDecodeChart } from "./decode_chart.js";
import { LARGEST_STEP, STEP_PARTS, computeDecode, decodeWithRun, formatOf, modelOf } from "./decode_model.js";

const DECODE_KEYS = ["model", "device", "batch", "prompt_length", "weight_precision", "kv_precision"];
const DECODE_COUNTS = { batch: ["Batch, requests at a time", "Batch"], prompt_length: ["Prompt, tokens of each request", "Prompt"] };

const isCount = (key, value) => Number.isInteger(value) && value >= 1 && value <= LARGEST_STEP[key];

function mountDecode({ root, model, spec, host }) {
  const shell = createShell(root, "model, device, batch, prompt length and formats");
  const change = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const choose = (key, options) => createSelect(options, (value) => change(key, value));
  const selects = {
    model: choose("model", spec.models.map((m) => [m.key, m.name])),
    device: choose("device", spec.devices.map((d) => [d.key, titleOf(d)])),
    weight_precision: choose("weight_precision", spec.weights.map((f) => [f.name, f.label])),
    kv_precision: choose("kv_precision", spec.caches.map((f) => [f.name, f.label])),
  };
  const wrong = html("span", { class: "rc-wrong", id: `${shell.prefix}-wrong`, role: "status" });
  const counts = Object.fromEntries(Object.keys(DECODE_COUNTS).map((key) => [key, createCount(key)]));
  shell.controls.classList.add("rc-decode");
  shell.controls.append(
    labelled(shell, "model", "Model", selects.model),
    labelled(shell, "device", "Device", selects.device),
    labelled(shell, "weight_precision", "Weights", selects.weight_precision),
    labelled(shell, "kv_precision", "KV cache", selects.kv_precision),
    ...Object.entries(counts).map(([key, { slider, box }]) => html("div", { class: "rc-size" },
      labelled(shell, key, DECODE_COUNTS[key][0], slider), labelled(shell, `${key}_exact`, DECODE_COUNTS[key][1], box))),
    wrong,
  );

  /** A slider over the powers of two, and a box for every other whole number. */
  function createCount(key) {
    const last = Math.log2(LARGEST_STEP[key]);
    const slider = createSlider({ last, page: 3, onMove: (position) => change(key, 2 ** position) });
    const box = html("input", { type: "number", min: 1, max: LARGEST_STEP[key], step: 1, inputmode: "numeric", "aria-describedby": wrong.id });
    box.addEventListener("input", () => {
      const value = box.value.trim() === "" ? NaN : Number(box.value);
      box.setAttribute("aria-invalid", String(!isCount(key, value)));
      write(wrong, isCount(key, value) ? "" : `A whole number from 1 to ${LARGEST_STEP[key]}.`);
      if (isCount(key, value)) change(key, value);
    });
    box.addEventListener("blur", () => { if (box.getAttribute("aria-invalid") === "true") showCount(key, model.get(key)); });
    return { slider, box, last };
  }

  function showCount(key, value) {
    const { slider, box, last } = counts[key];
    placeSlider(slider, Math.log2(value), significant(value, 1), last);
    if (document.activeElement !== box || Number(box.value) !== value) box.value = value;
    if (box.getAttribute("aria-invalid") === "true") write(wrong, "");
    box.setAttribute("aria-invalid", "false");
  }

  const chart = createDecodeChart(spec, () => fontOf(root));
  shell.stage.append(chart.node);
  const tiles = {
    seconds: createTile("Least time of a step", "seconds"),
    tokens_per_second: createTile("At most", "tokens_per_second"),
    intensity: createTile("Intensity of the step", "intensity"),
    batch_where_weights_stop: createTile("Weights lead below batch", "batch_where_weights_stop"),
    memory_needed: createTile("Weights and KV cache", "memory_needed"),
    measured_seconds: createTile("Measured step", "measured_seconds"),
  };
  shell.tiles.append(...Object.values(tiles).map((tile) => tile.node));
  const table = createStepTable();
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  shell.foot.append(
    html("p", { class: "rc-legend" }, `crosses and bars: the model, with F and B measured; filled point: a measured step (${spec.source})`),
    ...(host.linkTo ? [link] : []), table.node,
  );

  function update() {
    const now = Object.fromEntries(DECODE_KEYS.map((key) => [key, model.get(key)]));
    const v = computeDecode(spec, now);
    const chosen = modelOf(spec, now.model);
    const device = deviceOf(spec, now.device);
    for (const [key, select] of Object.entries(selects)) select.value = now[key];
    for (const key of Object.keys(counts)) showCount(key, now[key]);
    markAbsent(selects.weight_precision, spec.weights.map((f) => [f.label, f.name in chosen.fixed && f.compute.some((p) => p in device.peaks)]));
    colourBy(root, device);
    chart.show(v, labelOf(device));
    showTiles(v);
    write(shell.sentence, v.sentence);
    table.show(v, spec, now, chosen, device);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  function showTiles(v) {
    if (!v.available) {
      for (const tile of Object.values(tiles)) tile.show(NOTHING, undefined);
      return;
    }
    const size = (value) => {
      const [number, unit] = bytes(value).split("\u00a0");
      return { number, unit };
    };
    const each = significant(v.tokens_per_second / v.batch, 3);
    const after = STEP_PARTS[v.part_after_weights];
    const [first, second] = [time3(v.memory_seconds), time3(v.compute_seconds)];
    tiles.seconds.show(timeParts(v.seconds), v.seconds, `longer of ${first}, ${second}`);
    tiles.tokens_per_second.show({ number: significant(v.tokens_per_second, 3), unit: "tokens/s" }, v.tokens_per_second, `${each} for each request`);
    tiles.intensity.show({ number: significant(v.intensity, 3), unit: "FLOP/byte" }, v.intensity, `${v.bound}-bound, ridge ${significant(v.ridge_point, 3)}`);
    tiles.batch_where_weights_stop.show({ number: significant(v.batch_where_weights_stop, 1), unit: "" }, v.batch_where_weights_stop, `then ${after}`);
    tiles.memory_needed.show(size(v.memory_needed), v.memory_needed, "fits" in v ? `${v.fits ? "fits in" : "more than"} ${bytes(v.memory_bytes)}` : "");
    if (v.measured) {
      tiles.measured_seconds.show(timeParts(v.measured_seconds), v.measured_seconds, `${significant(v.times_bound, 2)} times the bound`);
    } else {
      tiles.measured_seconds.show(NOTHING, undefined, "not in the data");
    }
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return { update, note: (text) => showNote(shell.note, text), destroy: stop };
}

/** The step in figures, and below it the measured steps of the card where the data have them. */
function createStepTable() {
  const caption = html("caption");
  const body = html("tbody");
  const steps = html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "Measured steps as a table", "data-lm-suppress-shortcuts": "true" });
  const heads = (names) => html("thead", {}, html("tr", {}, ...names.map((name) => html("th", { scope: "col" }, name))));
  const row = (name, ...cells) => html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell)));
  const node = html("details", { class: "rc-table" }, html("summary", { "data-lm-suppress-shortcuts": "true" }, "The step as a table"),
    html("div", { class: "rc-scroll", tabindex: "0", role: "region", "aria-label": "The step as a table", "data-lm-suppress-shortcuts": "true" },
      html("table", {}, caption, heads(["part", "amount", "least time", "share of the traffic"]), body)), steps);
  return {
    node,
    show(v, spec, now, chosen, device) {
      write(caption, `${chosen.name} on ${device.name}, batch ${significant(v.batch, 1)}, ${significant(v.prompt_length, 1)} tokens each`);
      const traffic = ["weights", "kv", "activations"].map((part) => v.available
        && row(STEP_PARTS[part], bytes(v[`${part}_bytes`]), time3(v[`${part}_seconds`]), percent3(v[`percent_${part}`])));
      body.replaceChildren(...(v.available ? [...traffic, row("all traffic", bytes(v.bytes), time3(v.memory_seconds), percent3(100)),
        row(STEP_PARTS.compute, `${significant(v.flop / 1e9, 3)}\u00a0GFLOP`, time3(v.compute_seconds), "")] : []));
      const found = now.model === spec.measured.model ? spec.measured.steps[now.device] || [] : [];
      const { precision } = spec.measured;
      const lines = found.map(([batch, prompt, seconds]) => {
        const w = computeDecode(spec, { ...now, batch, prompt_length: prompt, weight_precision: precision, kv_precision: precision });
        return row(String(batch), significant(prompt, 1), time3(w.seconds), time3(seconds), `${significant(w.times_bound, 2)} times`);
      });
      steps.hidden = lines.length === 0;
      const label = formatOf(spec.weights, precision).label;
      steps.replaceChildren(...(lines.length === 0 ? [] : [html("table", {}, html("caption", {}, `Measured steps of ${chosen.name} on ${device.name} in ${label}`),
        heads(["batch", "prompt", "least time", "measured", "of the bound"]), html("tbody", {}, ...lines))]));
    },
  };
}

register("decode", {
  keys: DECODE_KEYS,
  compute: computeDecode,
  mount: mountDecode,
  withRun: decodeWithRun,
  accept(spec, key, text) {
    if (key in DECODE_COUNTS) return /^\d+$/.test(text) && isCount(key, Number(text)) ? Number(text) : undefined;
    if (key === "model") return modelOf(spec, text) && text;
    if (key === "device") return acceptName(spec, key, text);
    const name = text === "fp8" ? "fp8_e4m3" : text;
    return formatOf(key === "weight_precision" ? spec.weights : spec.caches, name) && name;
  },
});
