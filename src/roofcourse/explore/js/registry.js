// Every kind of explorer registers itself here; adding one is adding a file to kinds/.

const kinds = new Map();

/**
 * Of a kind:
 * about, keys: what its controls set, in words; the keys of its state
 * compute(spec, state) -> flat object of numbers and strings
 * build(page) -> its controls, chart, tiles and table: see explorer.js
 * accept(spec, key, text) -> the value of a state key written in a link, or undefined when it is not a valid one
 * withRun(spec, run, file, state) -> { spec, state } with the machine of a run file, or an error with one sentence
 */
export function register(name, kind) {
  kinds.set(name, kind);
}

export function kindOf(name) {
  const kind = kinds.get(name);
  if (kind === undefined) throw new Error(`roofcourse: no explorer of kind "${name}"; there are ${[...kinds.keys()].join(", ")}`);
  return kind;
}

export function compute(name, spec, state) {
  return kindOf(name).compute(spec, state);
}
