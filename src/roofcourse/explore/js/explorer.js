// What all kinds do alike: the frame around their chart, and what follows from a change of the state. A kind says the rest.

import { createCutNames } from "./controls.js";
import { html, write } from "./dom.js";
import { colourBy, createDataTable, createShell, createVoice, fontOf, showLink, showNote, watchWidth } from "./shell.js";
import { deviceOf } from "./spec.js";

/**
 * Draw an explorer of `kind` into `root`. `kind.build(page)` fills `page.shell.controls` and returns
 *   chart: { node, resize(width) -> whether it has to be drawn anew }
 *   tiles: of createTiles
 *   table: the title of the table of its data
 *   show(now, v, device): draws the chart and returns { tiles: key -> [parts or null, remark], legend: text, or [mark, its meaning] each,
 *     tables() -> [[caption, heads, rows, current]] }; a tile that is left out is hidden
 *   forget(): where data of the same devices may change
 * `page.each(act)` has `act(now, v, device)` called before each `show`; `page.change(values)` is a reader's move.
 */
export function mountExplorer(kind, { root, model, spec, host }) {
  const shell = createShell(root, kind.about);
  const acts = [];
  const page = {
    root,
    spec,
    shell,
    also: host.also || "",
    font: () => fontOf(root),
    get: (key) => model.get(key),
    each: (act) => acts.push(act),
    change(values) {
      for (const [key, value] of Object.entries(values)) model.set(key, value);
      model.save_changes();
    },
  };
  const { chart, tiles, table: title, show, forget } = kind.build(page);
  const cutNames = createCutNames(page);
  const table = createDataTable(title, page.also);
  const link = html("a", { class: "rc-link", "data-lm-suppress-shortcuts": "true" }, "link to this view");
  const legend = html("p", { class: "rc-legend" });
  const voice = createVoice();
  shell.stage.prepend(chart.node);
  shell.foot.append(legend, ...(host.linkTo ? [link] : []), table.node);
  root.append(voice.node);

  function update() {
    const now = Object.fromEntries(kind.keys.map((key) => [key, model.get(key)]));
    const v = kind.compute(spec, now);
    const device = deviceOf(spec, now.device);
    if (device !== undefined) colourBy(root, device);
    for (const act of acts) act(now, v, device);
    cutNames();
    const seen = show(now, v, device);
    tiles(seen.tiles, v);
    legend.replaceChildren(...(typeof seen.legend === "string" ? [seen.legend] : seen.legend.map(keyOf)));
    table.show(seen.tables);
    write(shell.sentence, v.sentence);
    voice.hear(v.sentence);
    if (host.linkTo) showLink(link, host.linkTo(now));
  }

  let ready = false;
  const stop = watchWidth(shell.stage, (width) => {
    page.width = width;
    if (chart.resize(width) && ready) update();
  });
  ready = true;
  update();
  return {
    update,
    note: (text) => showNote(shell.note, text),
    say: () => voice.hear(shell.sentence.textContent, true),
    destroy() {
      stop();
      voice.stop();
    },
    respec: forget && (() => {
      forget();
      update();
    }),
  };
}

/** What a mark of the chart means. */
const keyOf = ([mark, text]) => html("span", { class: `rc-key rc-key-${mark}` }, text);
