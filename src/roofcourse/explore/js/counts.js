// Whole numbers: a slider over the powers of two, and a box for every other number.

import { html, write } from "./dom.js";
import { createSlider, labelled, placeSlider } from "./shell.js";

/** The whole number from 1 to `largest` that is written in a link or a box; undefined for anything else. */
export function acceptWhole(text, largest) {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= largest ? value : undefined;
}

/**
 * Controls of several counts, by key of the state: { largest, label of the slider, name, box: label of the box, words(value) }. Returns
 * { key: [slider, box], wrong }: what is wrong is said in one place for all boxes.
 */
export function createCounts(page, counts) {
  const wrong = html("span", { class: "rc-wrong", id: `${page.shell.prefix}-wrong`, role: "status" });
  const controls = Object.entries(counts).map(([key, count]) => [key, createCount(page, key, count, wrong)]);
  return { ...Object.fromEntries(controls), wrong };
}

function createCount(page, key, { largest, label, name, box: exact, words }, wrong) {
  const last = Math.log2(largest);
  const slider = createSlider({ last, page: 3, onMove: (position) => page.change({ [key]: 2 ** position }) });
  const box = html("input", { type: "number", min: 1, max: largest, step: 1, inputmode: "numeric", "aria-describedby": wrong.id });
  const isWrong = () => box.getAttribute("aria-invalid") === "true";

  function show(value) {
    placeSlider(slider, Math.log2(value), words(value), last);
    if (document.activeElement !== box || Number(box.value) !== value) box.value = value;
    if (isWrong()) write(wrong, "");
    box.setAttribute("aria-invalid", "false");
  }

  box.addEventListener("input", () => {
    const value = acceptWhole(box.value, largest);
    box.setAttribute("aria-invalid", String(value === undefined));
    write(wrong, value === undefined ? `${name} is a whole number from 1 to ${largest}.` : "");
    if (value !== undefined) page.change({ [key]: value });
  });
  box.addEventListener("blur", () => { if (isWrong()) show(page.get(key)); });
  page.each((now) => show(now[key]));
  return [
    labelled(page.shell, key, label, slider, "rc-wide"),
    labelled(page.shell, `${key}_exact`, exact, box),
  ];
}
