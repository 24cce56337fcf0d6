// Every kind of explorer registers itself here; adding one is adding a file to kinds/.

const kinds = new Map();

/**
 * Of a kind, the last two where it shows machines that readers measured:
 * compute(spec, state) -> flat object of numbers and strings
 * mount({ root, model, spec, host }) -> { update(changedKeys), note(text), destroy(), respec() }
 * accept(spec, key, text) -> the value of a state key written in a link, or undefined when it is not a valid one
 * withRun(spec, run, file, state) -> { spec, state } with the machine of a run file, or an error with one sentence
 * respec() draws anew after the data of the same devices have changed; without it the explorer is made anew
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
