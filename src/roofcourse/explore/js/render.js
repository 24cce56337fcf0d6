// The one entry that both hosts call.

import { html, uniquePrefix } from "./dom.js";
import { mountExplorer } from "./explorer.js";
import { kindOf } from "./registry.js";
import { acceptDrops, createRunControl } from "./run_control.js";

const WHERE = {
  page: "Your browser reads it: nothing is uploaded, and nothing is kept.",
  kernel: "The kernel of this notebook reads it; it goes nowhere else.",
};

/**
 * Draw the explorer that `model` describes into `el`, and keep it in step with the model: in JupyterLab the model is the
 * widget's, on the site it is a few lines (host_static.js). `page.linkTo(state)` gives the address of a state, where states
 * have one; `page.takeRun(text, file)` adds the machine of a run file, or throws an error with a sentence; `page.also` follows
 * the names of regions; `page.measuring` is the address of the page that says how to measure, where there is one.
 * Returns a function that takes the explorer down.
 */
export function render({ model, el, page = {} }) {
  const kind = kindOf(model.get("kind"));
  let root = el;
  if (!el.classList.contains("rc-explorer")) {
    root = html("div", { class: "rc-explorer", "data-rc-explorer": model.get("kind") });
    el.append(root);
  }
  const prefix = uniquePrefix();
  let explorer = null;
  let spec = null;
  const runs = kind.withRun && createRunControl(prefix, {
    take: page.takeRun || ((text, file) => model.send({ what: "run", text, file })),
    say: (text) => explorer.note(text),
    where: page.takeRun ? WHERE.page : WHERE.kernel,
    measuring: page.measuring,
  });
  const stopDrops = runs ? acceptDrops(root, runs.read) : () => {};

  /** Draw everything anew, for a spec with other devices; what was open stays open, and the focus stays where it was. */
  function mount() {
    const open = [...root.querySelectorAll("details")].map((node) => node.open);
    const focused = root.contains(document.activeElement) ? document.activeElement.dataset.rcControl : undefined;
    const again = explorer !== null;
    if (again) explorer.destroy();
    spec = { ...model.get("spec") };
    explorer = mountExplorer(kind, { root, model, spec, host: page });
    if (runs) root.append(runs.node);
    root.querySelectorAll("details").forEach((node, i) => { node.open = open[i] === true; });
    if (focused !== undefined) root.querySelector(`[data-rc-control="${focused}"]`)?.focus();
    say();
    if (again) explorer.say();
  }

  /** Where the devices are the same and only their data are new, the explorer goes on; else it is drawn anew. */
  function respec() {
    const next = model.get("spec");
    const names = (of) => JSON.stringify(of.devices.map((device) => device.key));
    if (explorer.respec === undefined || names(spec) !== names(next)) {
      mount();
      return;
    }
    Object.assign(spec, next);
    explorer.respec();
  }

  const refresh = () => explorer.update();
  const say = () => explorer.note(model.get("note") || "");
  mount();
  const events = [...kind.keys.map((key) => [`change:${key}`, refresh]), ["change:note", say], ["change:spec", respec]];
  for (const [name, act] of events) model.on(name, act);
  return () => {
    for (const [name, act] of events) model.off(name, act);
    stopDrops();
    explorer.destroy();
  };
}
