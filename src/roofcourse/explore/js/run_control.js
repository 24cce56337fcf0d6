// How a reader's own run file gets onto an explorer: dropped anywhere on it, or chosen with a button.

import { html } from "./dom.js";
import { LARGEST_FILE } from "./run.js";
import { labelled } from "./shell.js";

/**
 * take(text, fileName) is called with a file's text; say(sentence) where there is nothing to take. `where` says what becomes
 * of the file, `measuring` is the address of a page that says how to make one. Returns the row to put below an explorer.
 */
export function createRunControl(prefix, { take, say, where, measuring }) {
  const input = html("input", { type: "file", accept: ".json,application/json", "aria-describedby": `${prefix}-run-where` });
  input.addEventListener("click", () => { input.value = ""; }); // else choosing the same file again would be no change
  input.addEventListener("change", () => read(input.files));

  async function read(files) {
    const file = files[0];
    if (file === undefined) return;
    if (input.files !== files) input.files = files; // the control names the file that was dropped
    if (file.size > LARGEST_FILE) say(`${file.name}: too large for a run file of roofcourse measure`);
    else {
      try {
        take(await file.text(), file.name);
      } catch (error) {
        say(error.name === "NotReadableError" ? `${file.name}: it cannot be read; is it still there?` : error.message);
      }
    }
  }

  return {
    node: html("div", { class: "rc-run" },
      labelled({ prefix }, "run", "Your own machine: choose the run.json of roofcourse measure, or drop it here", input),
      html("p", { id: `${prefix}-run-where` }, where, ...(measuring ? [" ", html("a", { href: measuring }, "How to make one")] : []))),
    read,
  };
}

/** Let `root` take files; a file dropped beside a control must not make the browser leave the page. */
export function acceptDrops(root, read) {
  const on = (name, act) => {
    const listener = (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      root.classList.toggle("rc-dropping", name === "dragover");
      act(event);
    };
    root.addEventListener(name, listener);
    return () => root.removeEventListener(name, listener);
  };
  const stops = [on("dragover", () => {}), on("dragleave", () => {}), on("drop", (event) => read(event.dataTransfer.files))];
  return () => stops.forEach((stop) => stop());
}
