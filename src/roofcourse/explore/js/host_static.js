// The host on the built site: no Python behind it. Finds the explorers of the page, gives each a model, keeps the address.

import { checkState, readFragment, writeFragment } from "./fragment.js";
import { compute, kindOf } from "./registry.js";
import { render } from "./render.js";
import { parseRun } from "./run.js";

const PAUSE = 250; // milliseconds from the last move to the change of the address

/** The part of an anywidget model that an explorer uses. */
function createModel(values, onSave) {
  const listeners = new Map();
  const of = (event) => listeners.get(event) || listeners.set(event, new Set()).get(event);
  return {
    get: (key) => values[key],
    set(key, value) {
      if (values[key] === value) return;
      values[key] = value;
      for (const listener of of(`change:${key}`)) listener();
    },
    on: (event, listener) => of(event).add(listener),
    off: (event, listener) => of(event).delete(listener),
    save_changes: onSave,
  };
}

// What a test, or a curious reader, can look at from the console: window.roofcourse.
const explorers = [];

function start() {
  const mounted = new Map(); // name in the address -> { kind, spec, model, el }
  const seen = new Map();
  const firstDevices = new Map(); // kind -> the devices of the first explorer of that kind

  for (const el of document.querySelectorAll("div.rc-explorer[data-rc-explorer]:not(.rc-live)")) {
    const kind = el.dataset.rcExplorer;
    const { spec, state } = JSON.parse(el.querySelector("script[type='application/json']").textContent);
    if (Array.isArray(spec.devices)) {
      // a page says each device once: in a later explorer it is its place in the first one's list
      const known = firstDevices.get(kind) || firstDevices.set(kind, spec.devices).get(kind);
      spec.devices = spec.devices.map((device) => (typeof device === "number" ? known[device] : device));
    }
    const rank = (seen.get(kind) || 0) + 1;
    seen.set(kind, rank);
    const name = rank === 1 ? kind : `${kind}-${rank}`;
    const stateOf = () => Object.fromEntries(kindOf(kind).keys.map((key) => [key, model.get(key)]));
    let timer = 0;
    const model = createModel({ ...state, kind, spec, note: "" }, () => {
      model.set("note", "");
      clearTimeout(timer);
      timer = setTimeout(() => {
        const address = linkTo(stateOf());
        if (address !== null) history.replaceState(history.state, "", address);
      }, PAUSE);
    });
    /** null for a state with a reader's own machine: whoever opens the address does not have it. */
    const linkTo = (now) => {
      const known = model.get("spec") === spec || Object.entries(now).every(([key, value]) => kindOf(kind).accept(spec, key, String(value)) !== undefined);
      return known ? writeFragment(name, now) : null;
    };
    const takeRun = (text, file) => {
      const next = kindOf(kind).withRun(model.get("spec"), parseRun(text, file), file, stateOf());
      model.set("note", "");
      model.set("spec", next.spec);
      for (const [key, value] of Object.entries(next.state)) model.set(key, value);
    };
    render({ model, el, page: { linkTo, takeRun, measuring: el.dataset.rcMeasuring, also: rank === 1 ? "" : `, explorer ${rank}` } });
    explorers.push({ name, kind, state: stateOf, get spec() { return model.get("spec"); } });
    mounted.set(name, { kind, spec, model, el });
  }

  function followAddress() {
    const asked = readFragment(location.hash);
    const target = asked && mounted.get(asked.name);
    if (!target) return;
    const { state, note } = checkState(target.kind, target.spec, asked.pairs);
    for (const [key, value] of Object.entries(state)) target.model.set(key, value);
    target.model.set("note", note);
    target.el.scrollIntoView({ block: "start" });
  }

  followAddress();
  addEventListener("hashchange", followAddress);
}

window.roofcourse = { compute, explorers };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
