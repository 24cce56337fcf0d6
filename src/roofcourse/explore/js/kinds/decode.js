// The explorer of chapter 6: a model, a card, a batch and a prompt length, and the least time of a decode step.

import { createChoice } from "../controls.js";
import { acceptWhole, createCounts } from "../counts.js";
import { html } from "../dom.js";
import { bytes, bytesParts, intensityParts, percent3, significant, time3, timeParts } from "../format.js";
import { register } from "../registry.js";
import { createTiles } from "../shell.js";
import { acceptName, deviceOf, labelOf, titleOf } from "../spec.js";
import { createDecodeChart } from "./decode_chart.js";
import { LARGEST_STEP, STEP_PARTS, computeDecode, decodeWithRun, formatOf, modelOf } from "./decode_model.js";

function buildDecode(page) {
  const { spec, shell } = page;
  const formats = (list) => list.map((f) => [f.name, f.label]);
  const multiplied = (name, now) => name in modelOf(spec, now.model).fixed
    && formatOf(spec.weights, name).compute.some((p) => p in deviceOf(spec, now.device).peaks);
  const count = (key, name, label, unit) => ({
    largest: LARGEST_STEP[key], label, name, box: name, words: (value) => `${significant(value, 1)} ${value === 1 ? unit : `${unit}s`}`,
  });
  const { wrong, ...counts } = createCounts(page, {
    batch: count("batch", "Batch", "Batch, requests at a time", "request"),
    prompt_length: count("prompt_length", "Prompt", "Prompt, tokens of each request", "token"),
  });
  shell.controls.classList.add("rc-decode");
  shell.controls.append(
    createChoice(page, "model", "Model", spec.models.map((m) => [m.key, m.name])),
    createChoice(page, "device", "Device", spec.devices.map((d) => [d.key, titleOf(d)])),
    createChoice(page, "weight_precision", "Weights", formats(spec.weights), { present: multiplied }),
    createChoice(page, "kv_precision", "KV cache", formats(spec.caches)),
    ...Object.values(counts).map((pair) => html("div", { class: "rc-size" }, ...pair)),
    wrong,
  );
  const chart = createDecodeChart(spec, page.font);
  const tiles = createTiles(shell, {
    seconds: "Least time of a step",
    tokens_per_second: "At most",
    intensity: "Intensity of the step",
    batch_where_weights_stop: "Weights lead below batch",
    memory_needed: "Weights and KV cache",
    measured_seconds: "Measured step",
  });

  function show(now, v, device) {
    const chosen = modelOf(spec, now.model);
    chart.show(v, labelOf(device));
    return {
      tiles: stepReadings(v),
      legend: `crosses and bars: the model, with F and B measured; filled point: a measured step (${spec.source})`,
      tables: () => [stepTable(v, chosen, device), ...measuredSteps(spec, now, chosen, device)],
    };
  }

  return { chart, tiles, table: "The step as a table", show };
}

function stepReadings(v) {
  const names = ["seconds", "tokens_per_second", "intensity", "batch_where_weights_stop", "memory_needed", "measured_seconds"];
  if (!v.available) return Object.fromEntries(names.map((name) => [name, [null, ""]]));
  return {
    seconds: [timeParts(v.seconds), `longer of ${time3(v.memory_seconds)}, ${time3(v.compute_seconds)}`],
    tokens_per_second: [{ number: significant(v.tokens_per_second, 3), unit: "tokens/s" },
      `${significant(v.tokens_per_second / v.batch, 3)} for each request`],
    intensity: [intensityParts(v.intensity), `${v.bound}-bound, ridge ${significant(v.ridge_point, 3)}`],
    batch_where_weights_stop: [{ number: significant(v.batch_where_weights_stop, 1), unit: "" }, `then ${STEP_PARTS[v.part_after_weights]}`],
    memory_needed: [bytesParts(v.memory_needed), "fits" in v ? `${v.fits ? "fits in" : "more than"} ${bytes(v.memory_bytes)}` : ""],
    measured_seconds: v.measured ? [timeParts(v.measured_seconds), `${significant(v.times_bound, 2)} times the bound`] : [null, "not in the data"],
  };
}

/** The step in figures. */
function stepTable(v, chosen, device) {
  const parts = v.available ? [
    ...["weights", "kv", "activations"].map((part) => [STEP_PARTS[part], bytes(v[`${part}_bytes`]), time3(v[`${part}_seconds`]), percent3(v[`percent_${part}`])]),
    ["all traffic", bytes(v.bytes), time3(v.memory_seconds), percent3(100)],
    [STEP_PARTS.compute, `${significant(v.flop / 1e9, 3)}\u00a0GFLOP`, time3(v.compute_seconds), ""],
  ] : [];
  return [`${chosen.name} on ${device.name}, batch ${significant(v.batch, 1)}, ${significant(v.prompt_length, 1)} tokens each`,
    ["part", "amount", "least time", "share of the traffic"], parts];
}

/** The measured steps of the card, where the data have them. */
function measuredSteps(spec, now, chosen, device) {
  const { model, precision, steps } = spec.measured;
  const found = now.model === model ? steps[now.device] || [] : [];
  if (found.length === 0) return [];
  const rows = found.map(([batch, prompt, seconds]) => {
    const v = computeDecode(spec, { ...now, batch, prompt_length: prompt, weight_precision: precision, kv_precision: precision });
    return [String(batch), significant(prompt, 1), time3(v.seconds), time3(seconds), `${significant(v.times_bound, 2)} times`];
  });
  return [[`Measured steps of ${chosen.name} on ${device.name} in ${formatOf(spec.weights, precision).label}`,
    ["batch", "prompt", "least time", "measured", "of the bound"], rows]];
}

register("decode", {
  about: "model, device, batch, prompt length and formats",
  keys: ["model", "device", "batch", "prompt_length", "weight_precision", "kv_precision"],
  compute: computeDecode,
  withRun: decodeWithRun,
  build: buildDecode,
  accept(spec, key, text) {
    if (key in LARGEST_STEP) return acceptWhole(text, LARGEST_STEP[key]);
    if (key === "model") return modelOf(spec, text) && text;
    if (key === "device") return acceptName(spec, key, text);
    const name = text === "fp8" ? "fp8_e4m3" : text;
    return formatOf(key === "weight_precision" ? spec.weights : spec.caches, name) && name;
  },
});
