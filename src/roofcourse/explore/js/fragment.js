// The state of an explorer in the address: #explorer=m_sweep&m=64&precision=bf16&device=h200
// The first explorer of a kind on a page is called by its kind; the second one "m_sweep-2", and so on.

import { kindOf } from "./registry.js";

export function writeFragment(name, state) {
  const pairs = Object.entries(state).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `#explorer=${name}&${pairs.join("&")}`;
}

/** {name, pairs} of an explorer's fragment, or null for any other fragment (a heading of the page, say). */
export function readFragment(fragment) {
  if (!fragment.startsWith("#explorer=")) return null;
  const pairs = new URLSearchParams(fragment.slice(1));
  const name = pairs.get("explorer");
  pairs.delete("explorer");
  return { name, pairs };
}

/** Which of the pairs are a valid state of this kind, and a sentence about those that are not. */
export function checkState(kindName, spec, pairs) {
  const kind = kindOf(kindName);
  const state = {};
  const ignored = [];
  for (const [key, text] of pairs) {
    const value = kind.keys.includes(key) ? kind.accept(spec, key, text) : undefined;
    if (value === undefined) ignored.push(`${key} = ${text}`);
    else state[key] = value;
  }
  const note = ignored.length === 0 ? "" : `The link asked for ${ignored.join(", ")}: there is no such view, so that part was ignored.`;
  return { state, note };
}
