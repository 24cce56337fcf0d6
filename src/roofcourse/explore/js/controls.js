// Controls of a key of the state that more than one kind has.

import { html, set, write } from "./dom.js";
import { textWidth } from "./labels.js";
import { createSelect, createSlider, labelled, placeSlider } from "./shell.js";
import { deviceOf, precisionOf, titleOf } from "./spec.js";

/**
 * A select for `key` with `options` of [value, text]. `present(value, now)`: whether there are data; a choice without stays
 * selectable, its option says so, and the sentence explains. `also`: what else a choice sets.
 */
export function createChoice(page, key, label, options, { present = () => true, also = {}, wide = "" } = {}) {
  const select = createSelect(options, (index) => page.change({ [key]: options[index][0], ...also }));
  page.each((now) => {
    options.forEach(([value, text], i) => write(select.options[i], present(value, now) ? text : `${text} (no data)`));
    select.value = String(now[key]);
  });
  return labelled(page.shell, key, label, select, wide);
}

/** Precision and device; `field` of a device has what was measured of it by precision. */
export function createDeviceChoices(page, field) {
  const { devices, precisions } = page.spec;
  return [
    createChoice(page, "precision", "Precision", precisions.map((p) => [p.name, p.label]),
      { present: (name, now) => name in deviceOf(page.spec, now.device)[field] }),
    createChoice(page, "device", "Device", devices.map((d) => [d.key, titleOf(d)]),
      { present: (key, now) => precisionOf(page.spec, now.precision).name in deviceOf(page.spec, key)[field] }),
  ];
}

/** A select of ready states: choosing one sets `keys`; one whose `same` keys all have its values is shown as chosen. */
export function createPresets(page, name, label, own, presets, keys, same = keys) {
  const select = createSelect([["", own], ...presets.map((preset, i) => [String(i), preset.label])], (at) => {
    if (at > 0) page.change(Object.fromEntries(keys.map((key) => [key, presets[at - 1][key]])));
  });
  page.each((now) => {
    select.selectedIndex = 1 + presets.findIndex((preset) => same.every((key) => preset[key] === now[key]));
  });
  return labelled(page.shell, name, label, select, "rc-kernel");
}

/** A slider with its value beside its label: `show(position, last, words, shown, exact)`. */
export function createReadout(page, key, name, label, options) {
  const slider = createSlider(options);
  const control = labelled(page.shell, key, label, slider, "rc-half");
  const shown = html("output", { "data-rc-value": name, for: slider.id, "aria-hidden": "true" });
  const title = control.querySelector("label");
  title.after(shown);
  return {
    control,
    slider,
    title,
    show(position, last, words, text, exact) {
      placeSlider(slider, position, words, last);
      write(shown, text);
      set(shown, { "data-rc-exact": String(exact) });
    },
  };
}

const PER_DECADE = 50;

/** A slider over whole decades, from `low` to `high`. Three digits: it is a rough instrument, and 2.15 reads better than 2.1544. */
export function createDecades(page, key, label, symbol, [low, high], words) {
  const last = Math.round(PER_DECADE * Math.log10(high / low));
  const { control, show } = createReadout(page, key, key, label, {
    last, page: PER_DECADE, tolerance: 0.25,
    onMove: (position) => page.change({ [key]: Number((low * 10 ** (position / PER_DECADE)).toPrecision(3)) }),
  });
  page.each((now) => {
    const text = words(now[key]);
    show(PER_DECADE * Math.log10(now[key] / low), last, `${symbol} = ${text}`, text, now[key]);
  });
  return control;
}

const PADDING = 2.3; // of a select, left and right, in its letters' size

/** Below the controls, in full, what a select has no room for: a machine's name can be long. Measured when it may have changed. */
export function createCutNames(page) {
  const { controls } = page.shell;
  const selects = [...controls.querySelectorAll("select")];
  const node = html("p", { class: "rc-whole", "aria-hidden": "true" });
  let before;
  controls.append(node);
  return () => {
    const names = selects.map((select) => select.selectedOptions[0].textContent);
    const now = `${page.width} ${names}`;
    if (now === before) return;
    before = now;
    write(node, names.filter((name, i) => {
      const size = parseFloat(getComputedStyle(selects[i]).fontSize);
      return textWidth(name, `${size}px ${page.font()}`) > selects[i].clientWidth - PADDING * size;
    }).join("; "));
  };
}
