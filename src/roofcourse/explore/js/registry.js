// Every kind of explorer registers itself here; adding one is adding a file to kinds/.

const kinds = new Map();

/**
 * compute(spec, state) -> flat object of numbers and strings
 * mount({ root, model, spec, host }) -> { update(changedKeys), destroy() }
 * accept(spec, key, text) -> the value of a state key written in a link, or undefined when it is not a valid one
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
