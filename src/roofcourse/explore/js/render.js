// The one entry that both hosts call.

import { html } from "./dom.js";
import { kindOf } from "./registry.js";

/**
 * Draw the explorer that `model` describes into `el`, and keep it in step with the model: in JupyterLab the model is the
 * widget's, on the site it is a few lines (host_static.js). `page.linkTo(state)` gives the address of a state, where states
 * have one. Returns a function that takes the explorer down.
 */
export function render({ model, el, page = {} }) {
  const kind = kindOf(model.get("kind"));
  const spec = model.get("spec");
  let root = el;
  if (!el.classList.contains("rc-explorer")) {
    root = html("div", { class: "rc-explorer", "data-rc-explorer": model.get("kind") });
    el.append(root);
  }
  const explorer = kind.mount({ root, model, spec, host: page });
  const refresh = () => explorer.update();
  for (const key of kind.keys) model.on(`change:${key}`, refresh);
  const say = () => explorer.note(model.get("note") || "");
  model.on("change:note", say);
  return () => {
    for (const key of kind.keys) model.off(`change:${key}`, refresh);
    model.off("change:note", say);
    explorer.destroy();
  };
}
