// A run file of `roofcourse measure` as a device beside the cards, read in the browser. Twin: explore/own.py, with the checks of
// records.py and the rules of bench.py for what may set a ceiling; a browser test compares the two on every bundled run.

const SCHEMA = "roofcourse-run/2";
const READABLE = ["roofcourse-run/1", SCHEMA];
const MOVING = ["read_reduce", "write", "copy", "add", "triad"];
const SHAPE = ["m", "n", "k", "elements", "fma_per_element", "batch"];
/** Largest spread of an unstable point that may still set a ceiling. */
const UNUSABLE = 0.25;
/** Letters of a name in a sentence, and beside a roof in a chart. */
const NAME = 40;
const LABEL = 13;
const COLOURS = ["device-cpu", "spare-1", "spare-2", "spare-3", "spare-4"];
export const LARGEST_FILE = 32e6; // bytes: a thousand times a usual run

class WrongRun extends Error {}

function broken(why) {
  throw new WrongRun(`broken run file: ${why}`);
}

function field(row, name) {
  if (typeof row !== "object" || row === null || Array.isArray(row)) broken(`an entry is not a group of named fields`);
  if (!Object.hasOwn(row, name)) broken(`field '${name}' is missing`);
  return row[name];
}

/** What the fields hold, and how that is seen. */
const TEXT = ["text", (value) => typeof value === "string"];
const NUMBER = ["zero or more", (value) => Number.isFinite(value) && value >= 0];
const SIZE = ["a whole number of 1 or more", (value) => Number.isInteger(value) && value >= 1];
const TRUTH = ["true or false", (value) => typeof value === "boolean"];

/** The value of a field of this kind, or what stands for it where it is missing or null. */
function optional(row, name, [words, is], otherwise = null) {
  const value = row[name] ?? null;
  if (value === null) return otherwise;
  if (!is(value)) broken(`${name} must be ${words}, not ${JSON.stringify(value)}`);
  return value;
}

function named(row, name) {
  const value = field(row, name);
  if (typeof value !== "string") broken(`${name} must be text, not ${JSON.stringify(value)}`);
  return value;
}

function number(row, name, zero) {
  const value = field(row, name);
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || (value === 0 && !zero)) {
    broken(`${name} must be ${zero ? "zero or more" : "positive"}, not ${JSON.stringify(value)}`);
  }
  return value;
}

/** {machine, points} of a run file's text. Throws an error with one sentence for anything else. */
export function parseRun(text, file) {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof WrongRun) throw new WrongRun(`${file}: ${error.message}`);
    throw error;
  }
}

function parse(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new WrongRun("not a run file, or cut short");
  }
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, "schema")) {
    throw new WrongRun(`not a run file: it has no field 'schema' (${SCHEMA})`);
  }
  if (!READABLE.includes(data.schema)) {
    const newer = String(data.schema).startsWith("roofcourse-run/") ? "; a newer roofcourse wrote it: pip install -U roofcourse" : "";
    throw new WrongRun(`schema '${data.schema}'; this version of roofcourse reads '${SCHEMA}'${newer}`);
  }
  const machine = field(data, "machine");
  for (const name of ["key", "name", "utc"]) named(machine, name);
  optional(machine, "torch", TEXT);
  for (const name of ["cores", "load_average", "memory_bytes", "last_level_cache_bytes", "power_limit_watts"]) optional(machine, name, NUMBER);
  const rows = field(data, "measurements");
  if (!Array.isArray(rows)) broken("measurements is not a list");
  const points = rows.map(pointOf);
  field(data, "method_version");
  return { machine, points };
}

function pointOf(row) {
  const flop = number(row, "flop", true);
  const moved = number(row, "bytes", false);
  const point = { kernel: named(row, "kernel"), precision: named(row, "precision"), flop, bytes: moved, seconds: number(row, "seconds", false) };
  for (const name of SHAPE) point[name] = optional(row, name, SIZE);
  point.workingSet = optional(row, "working_set_bytes", NUMBER);
  point.cache = optional(row, "cache_state", TEXT, "warm");
  point.implementation = optional(row, "implementation", TEXT);
  point.spread = optional(row, "spread", NUMBER);
  point.stable = optional(row, "stable", TRUTH, true);
  point.suspect = optional(row, "suspect", TEXT, "");
  optional(row, "note", TEXT);
  return point;
}

const flopRate = (point) => point.flop / point.seconds;
const byteRate = (point) => point.bytes / point.seconds;

/** The highest of the trustworthy points: not suspect, and usable if any is; undefined where there is none. */
function bestOf(points, rate) {
  const believed = points.filter((point) => !point.suspect);
  const usable = believed.filter((point) => point.stable || (point.spread !== null && point.spread <= UNUSABLE));
  return (usable.length > 0 ? usable : believed).reduce((best, point) => (best === undefined || rate(point) > rate(best) ? point : best), undefined);
}

/** Of points that differ in their implementation only, the fastest, in the order in which they came. */
export function eachBest(points) {
  const best = new Map();
  for (const point of points) {
    const same = JSON.stringify([point.kernel, point.precision, point.cache, ...SHAPE.map((name) => point[name])]);
    if (!best.has(same) || point.seconds < best.get(same).seconds) best.set(same, point);
  }
  return [...best.values()];
}

/** Of points by several programs, those of the one that ran the most sizes; among equals, the fastest. */
export function oneProgram(points) {
  const byProgram = new Map();
  for (const point of points) byProgram.set(point.implementation, [...(byProgram.get(point.implementation) ?? []), point]);
  const fastest = (group) => Math.max(...group.map(byteRate));
  return [...byProgram.values()].reduce((best, group) => (
    group.length > best.length || (group.length === best.length && fastest(group) > fastest(best)) ? group : best), []);
}

/** The kernels that move data, on arrays past the caches: copies come in many sizes, of the others the largest that is believed. */
function bandwidthPoints(points, precision) {
  const found = points.filter((point) => MOVING.includes(point.kernel) && point.precision === precision && point.cache === "warm");
  const others = found.filter((point) => point.kernel !== "copy");
  const believed = others.filter((point) => !point.suspect);
  const sizes = (believed.length > 0 ? believed : others).map((point) => point.elements);
  const largest = sizes.length === 0 ? null : Math.max(...sizes);
  return eachBest(found.filter((point) => point.elements === largest));
}

/** N = K of the run's M sweep in a precision, and its points as [M, seconds, spread, suspect]; as the page's own data have them. */
function rowsOf(points, precision) {
  const found = points.filter((point) => point.kernel === "gemm" && point.precision === precision && point.cache === "warm" && point.n === point.k);
  const count = new Map();
  for (const { m, n } of found) if (m !== n) count.set(n, (count.get(n) || 0) + 1);
  let size = 0;
  for (const [n, times] of count) if (size === 0 || times > count.get(size)) size = n;
  const byRows = new Map();
  for (const point of found.filter(({ n }) => n === size).sort((a, b) => a.m - b.m)) byRows.set(point.m, point);
  const sweep = [...byRows].map(([m, { seconds, stable, spread, suspect }]) => [m, seconds, stable ? 0 : spread || -1, ...(suspect ? [suspect] : [])]);
  return { n: size, sweep };
}

function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}

/** "Intel(R) Xeon(R) CPU @ 2.20GHz" -> "Intel Xeon": what a sentence needs of a machine's name. */
export function cleanName(name) {
  const short = name.replace(/\((?:R|TM|C)\)/gi, "").replace(/\s+(?:CPU\s+)?@.*$/, "")
    .replace(/\b(?:Processor|\d+-Core|NVIDIA|GeForce)\b/g, "").replace(/\s+/g, " ").trim();
  return cut(short || name, NAME);
}

function unusedKey(wanted, taken) {
  const base = wanted.toLowerCase().replace(/[^a-z0-9-]/g, "-") || "run";
  let key = base;
  for (let count = 2; taken.includes(key); count += 1) key = `${base}-${count}`;
  return key;
}

/**
 * The device of a run: its ceilings {precision, path, peak} and what every kind says about a device. `spec` has the precisions
 * and the devices that are there already. Throws an error with one sentence where nothing makes a roof.
 */
export function deviceOfRun(spec, { machine, points }, file) {
  const bandwidth = bestOf([...bandwidthPoints(points, "fp32"), ...bandwidthPoints(points, "fp64")], byteRate);
  const ceilings = [];
  for (const [path, kernel] of [["gemm", "gemm"], ["vector", "fma"]]) {
    for (const { name } of spec.precisions) {
      const best = bestOf(points.filter((point) => point.kernel === kernel && point.precision === name && point.cache === "warm"), flopRate);
      if (best !== undefined) ceilings.push({ precision: name, path, peak: flopRate(best) });
    }
  }
  if (bandwidth === undefined || ceilings.length === 0) {
    throw new WrongRun(`${file}: no roof can be drawn from this run: measure with --only bandwidth,matmul,m-sweep (or more)`);
  }
  const name = cleanName(String(machine.name));
  const taken = spec.devices.filter((device) => "own" in device).map((device) => device.colour);
  return {
    ceilings,
    l2: machine.last_level_cache_bytes || 0,
    rows: (precision) => rowsOf(points, precision),
    common: {
      key: unusedKey(String(machine.key), spec.devices.map((device) => device.key)),
      name,
      label: cut(name, LABEL),
      own: String(machine.utc).slice(0, 10),
      bandwidth: byteRate(bandwidth),
      colour: COLOURS.find((colour) => !taken.includes(colour)) ?? COLOURS[taken.length % COLOURS.length],
    },
  };
}

/**
 * The device of a run with a matrix product: {common, l2, roofs, precision}, where each roof has its {peak, sweep, n}, and the
 * precision is the chosen one or one with an M sweep.
 */
export function sweepsOfRun(spec, run, file, state) {
  const { common, ceilings, l2, rows } = deviceOfRun(spec, run, file);
  const products = ceilings.filter(({ path }) => path === "gemm");
  if (products.length === 0) {
    throw new WrongRun(`${common.name}: this run has no roof of a matrix product: measure with --only bandwidth,matmul,m-sweep`);
  }
  const roofs = Object.fromEntries(products.map(({ precision, peak }) => [precision, { peak, ...rows(precision) }]));
  for (const roof of Object.values(roofs)) if (roof.n === 0) roof.n = spec.n;
  const swept = products.filter(({ precision }) => roofs[precision].sweep.length > 0);
  return { common, l2, roofs, precision: state.precision in roofs ? state.precision : (swept[0] || products[0]).precision };
}

/** An explorer of devices with their F by precision, with the machine of a run, which is chosen, in a precision that it has. */
export function peaksWithRun(spec, run, file, state) {
  const { common, ceilings } = deviceOfRun(spec, run, file);
  const products = ceilings.filter(({ path }) => path === "gemm");
  if (products.length === 0) throw new WrongRun(`${common.name}: this run has no roof of a matrix product: measure with --only bandwidth,matmul`);
  const peaks = Object.fromEntries(products.map(({ precision, peak }) => [precision, peak]));
  const precision = [state.precision, "fp32"].find((name) => name in peaks) || products[0].precision;
  return { spec: { ...spec, devices: [...spec.devices, { ...common, peaks }] }, state: { ...state, device: common.key, precision } };
}
