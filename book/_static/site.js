// Repairs of the stock theme. Jupyter Book puts this in each page's head, before the theme's own script.

// The theme starts from an empty mode, logs an error, and only then follows the system: say so from the start.
(() => {
  const page = document.documentElement.dataset;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  page.mode ||= "auto";
  page.theme ||= dark ? "dark" : "light";
})();

// What is called a download is saved, and not shown as text in another tab.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".btn-download-source-button, .btn-download-package-button")) link.download = "";
});

// A page opened from a folder may not read another one, which the search does for its excerpts: titles alone, then.
document.addEventListener("DOMContentLoaded", () => {
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
});

window.addEventListener("load", () => {
  // The logo and the search button stand in no landmark.
  const sidebar = document.querySelector("#pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "Site");

  // What scrolls sideways takes the keyboard's focus, and so says what it is. Whether it scrolls can change: a window is
  // turned, a folded table is opened.
  const boxes = document.querySelectorAll(".pst-scrollable-table-container, .cell_output .output, pre, div.math");
  const watch = new ResizeObserver((changes) => {
    for (const { target: box } of changes) {
      if (box.scrollWidth <= box.clientWidth) {
        for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
        continue;
      }
      const what = box.matches("pre") ? "Code" : box.matches(".math") ? "Formula" : box.querySelector("table") ? "Table" : "Output";
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${what} ${[...boxes].indexOf(box) + 1}, scrolls sideways`);
    }
  });
  boxes.forEach((box) => watch.observe(box));
});
