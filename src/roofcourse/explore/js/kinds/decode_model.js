// What the explorer of chapter 6 says about one state. Twin: explore/kinds/decode.py, which asks roofcourse/llm/bound.py.

import { bytes, flop, percent, significant, time3, withArticle } from "../format.js";
import { deviceOfRun } from "../run.js";
import { deviceOf, precisionOf } from "../spec.js";

export const STEP_PARTS = { weights: "the weights", kv: "the KV cache", activations: "the activations", compute: "the arithmetic" };
export const LARGEST_STEP = { batch: 4096, prompt_length: 131072 };
const STEP_TRAFFIC = ["weights", "kv", "activations"];
const LAST_BATCH = 2 ** 24;

export const modelOf = (spec, key) => spec.models.find((model) => model.key === key);
export const formatOf = (formats, name) => formats.find((format) => format.name === name);

const sumOf = (values) => values.reduce((total, value) => total + value, 0);
const seenTokens = (window, tokens) => (window === 0 ? tokens : Math.min(window, tokens));

/** Bytes of each kind and FLOP of one step, as functions of batch and prompt length. */
function stepAmounts(model, form, cache, batch, promptLength) {
  const tokens = promptLength + 1; // the new token is in the cache as well
  const touched = model.experts.map(([experts, used, of]) => of[form.name] * experts * (1 - (1 - used / experts) ** batch));
  const cached = sumOf(model.attention.map(([window, elements]) => elements * seenTokens(window, tokens)));
  const pairs = sumOf(model.attention.map(([window, , work]) => work * seenTokens(window, tokens)));
  return {
    weights: model.fixed[form.name] + sumOf(touched),
    kv: batch * cached * cache.bytes,
    activations: form.width * model.rows * batch,
    linear: batch * model.linear_flop,
    attention: batch * pairs,
    cached,
  };
}

function stepSeconds(moved, roof) {
  return {
    weights: moved.weights / roof.bandwidth,
    kv: moved.kv / roof.bandwidth,
    activations: moved.activations / roof.bandwidth,
    compute: (moved.linear + moved.attention) / roof.peak,
  };
}

/** The name of the largest value; a tie goes to the earlier one. */
const largestPart = (names, of) => names.reduce((best, name) => (of[name] > of[best] ? name : best));

/** The smallest batch at which another part takes as long as the weights, and that part. */
function whereWeightsStop(at) {
  const others = ["kv", "activations", "compute"];
  const stopped = (batch) => {
    const seconds = at(batch);
    return seconds.weights <= Math.max(...others.map((name) => seconds[name]));
  };
  let [low, high] = [0, 1];
  while (!stopped(high) && high < LAST_BATCH) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (stopped(middle)) high = middle;
    else low = middle;
  }
  return [high, largestPart(others, at(high))];
}

export function measuredStep(spec, state) {
  const { model, precision, steps } = spec.measured;
  if (state.model !== model || state.weight_precision !== precision || state.kv_precision !== precision) return undefined;
  const found = (steps[state.device] || []).find(([batch, prompt]) => batch === state.batch && prompt === state.prompt_length);
  return found && found[2];
}

export function computeDecode(spec, state) {
  const model = modelOf(spec, state.model);
  const device = deviceOf(spec, state.device);
  const form = formatOf(spec.weights, state.weight_precision);
  const cache = formatOf(spec.caches, state.kv_precision);
  const { batch, prompt_length: prompt } = state;
  const v = { batch, prompt_length: prompt, available: false };
  if (!(form.name in model.fixed)) {
    v.sentence = `${form.label}: a format for models with experts, and ${model.name} has none. Choose INT4 for its weights.`;
    return v;
  }
  const precision = form.compute.find((name) => name in device.peaks);
  if (precision === undefined) {
    const wanted = form.compute.map((name) => precisionOf(spec, name).label).join(" or ");
    v.sentence = `${form.label} weights are multiplied in ${wanted}, and no such product was measured on ${device.name}: choose other weights.`;
    return v;
  }
  v.available = true;
  const roof = { bandwidth: device.bandwidth, peak: device.peaks[precision] };
  const moved = stepAmounts(model, form, cache, batch, prompt);
  const seconds = stepSeconds(moved, roof);
  const [stop, after] = whereWeightsStop((b) => stepSeconds(stepAmounts(model, form, cache, b, prompt), roof));
  for (const part of STEP_TRAFFIC) v[`${part}_bytes`] = moved[part];
  v.bytes = sumOf(STEP_TRAFFIC.map((part) => moved[part]));
  v.flop = moved.linear + moved.attention;
  for (const part of STEP_TRAFFIC) v[`${part}_seconds`] = seconds[part];
  v.memory_seconds = sumOf(STEP_TRAFFIC.map((part) => seconds[part]));
  v.compute_seconds = seconds.compute;
  v.seconds = Math.max(v.memory_seconds, v.compute_seconds);
  Object.assign(v, {
    tokens_per_second: batch / v.seconds,
    intensity: v.flop / v.bytes,
    memory_needed: model.stored[form.name] + batch * moved.cached * cache.bytes,
    bandwidth: roof.bandwidth,
    peak: roof.peak,
    ridge_point: roof.peak / roof.bandwidth,
    compute_precision: precisionOf(spec, precision).label,
    bound: v.memory_seconds > v.compute_seconds ? "memory" : "compute",
    batch_where_weights_stop: stop,
    part_after_weights: after,
    linear_intensity: moved.linear / moved.weights,
    attention_intensity: moved.attention / moved.kv,
  });
  v.part = v.bound === "memory" ? largestPart(STEP_TRAFFIC, seconds) : "compute";
  if (device.memory > 0) Object.assign(v, { memory_bytes: device.memory, fits: v.memory_needed <= device.memory });
  for (const part of STEP_TRAFFIC) v[`percent_${part}`] = (100 * moved[part]) / v.bytes;
  const found = measuredStep(spec, state);
  v.measured = found !== undefined;
  if (v.measured) Object.assign(v, { measured_seconds: found, times_bound: found / v.seconds });
  v.sentence = decodeSentence(device, model, form, cache, v);
  return v;
}

function decodeSentence(device, model, form, cache, v) {
  const who = v.batch === 1 ? "one request" : `${significant(v.batch, 1)} requests`;
  const tokens = `${significant(v.prompt_length, 1)} token${v.prompt_length === 1 ? "" : "s"}`;
  const first = `On ${withArticle(device.name)}, one step of ${model.name} (weights in ${form.label}, KV cache in ${cache.label}) `
    + `for ${who} of ${tokens} takes at least ${time3(v.seconds)}: at most ${significant(v.tokens_per_second, 3)} tokens/s.`;
  let why = `The arithmetic, ${flop(v.flop)}, takes longer than to move ${bytes(v.bytes)}.`;
  if (v.bound === "memory") {
    const part = STEP_PARTS[v.part];
    why = `${part[0].toUpperCase()}${part.slice(1)} ${v.part === "kv" ? "is" : "are"} ${percent(v[`percent_${v.part}`])} `
      + `of the ${bytes(v.bytes)} that it moves.`;
  }
  const found = v.measured ? ` Measured: ${time3(v.measured_seconds)}, ${significant(v.times_bound, 2)} times the bound.` : "";
  const needed = bytes(v.memory_needed);
  let fit = ` Weights and KV cache need ${needed}.`;
  if (v.fits === true) fit = ` Weights and KV cache need ${needed} of its ${bytes(v.memory_bytes)} of memory.`;
  if (v.fits === false) fit = ` But weights and KV cache need ${needed}, and it has ${bytes(v.memory_bytes)}: they do not fit.`;
  return `${first} ${why}${found}${fit}`;
}

/** The machine of a run file beside the cards, chosen, with weights that it can multiply. */
export function decodeWithRun(spec, run, file, state) {
  const { common, ceilings } = deviceOfRun(spec, run, file);
  const peaks = Object.fromEntries(ceilings.filter(({ path }) => path === "gemm").map(({ precision, peak }) => [precision, peak]));
  const { fixed } = modelOf(spec, state.model);
  const names = [state.weight_precision, ...spec.weights.map(({ name }) => name)].filter((name) => name in fixed);
  const weights = names.find((name) => formatOf(spec.weights, name).compute.some((precision) => precision in peaks));
  if (weights === undefined) {
    throw new Error(`${common.name}: this run has no roof of a matrix product in fp32, bf16 or fp16: measure with --only bandwidth,matmul`);
  }
  return {
    spec: { ...spec, devices: [...spec.devices, { ...common, memory: run.machine.memory_bytes || 0, peaks }] },
    state: { ...state, device: common.key, weight_precision: weights },
  };
}
