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

// The search of Sphinx, on its own page.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  // A page opened from a folder may not read another one, which the search does for its excerpts: titles alone, then.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  // What there is to say of the results, for a book without categories.
  Object.assign(Documentation.TRANSLATIONS, {
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.":
      "No page has all of these words. Try fewer of them, or another form of one.",
    "Search finished, found ${resultCount} page(s) matching the search query.": "Pages found: ${resultCount}.",
  });

  // A result opens where its words stand, and not at the top of a page of forty screens: the phrase, else its first word.
  const openAtWords = ({ target }) => {
    const link = target.closest("a");
    if (link === null || link.hash !== "") return;
    const phrase = new URLSearchParams(location.search).get("q").trim();
    const wanted = new Set([phrase, ...phrase.split(/\s+/)]);
    const escaped = [...wanted].map((text) => `text=${encodeURIComponent(text).replaceAll("-", "%2D")}`);
    link.hash = `:~:${escaped.join("&")}`;
  };
  for (const kind of ["click", "auxclick"]) document.getElementById("search-results")?.addEventListener(kind, openAtWords);

  // A letter that no page has as a word, the s of "GB/s", would hide all that the other words find.
  const { _parseQuery, htmlToText } = Search;
  Search._parseQuery = (query) => {
    const parsed = _parseQuery(query);
    const [, words, , marked] = parsed;
    for (const word of [...words]) {
      if (word.length < 2 && !Object.hasOwn(Search._index.terms, word)) [words, marked].forEach((list) => list.delete(word));
    }
    localStorage.setItem("sphinx_highlight_terms", [...marked].join(" "));
    return parsed;
  };

  // An excerpt is of the text, and neither of the page's list of contents nor of the marks around a formula.
  Search.htmlToText = (html, anchor) => {
    const found = new DOMParser().parseFromString(html, "text/html");
    for (const node of found.querySelectorAll(".bd-sidebar-secondary, .bd-header-article, #print-main-content, [data-rc-explorer]")) {
      node.remove();
    }
    for (const formula of found.querySelectorAll(".math")) formula.textContent = formula.textContent.replace(/\\[()[\]]/g, "");
    return htmlToText(found.documentElement.outerHTML, anchor);
  };
});

window.addEventListener("load", () => {
  // The logo and the search button stand in no landmark.
  const sidebar = document.querySelector("#pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "Site");

  // What scrolls sideways takes the keyboard's focus, and so says what it is. Whether it scrolls can change: a window is
  // turned, a folded table is opened.
  const boxes = document.querySelectorAll(
    ".pst-scrollable-table-container, .cell_output .output, .text_html:has(> table.rc-table), .rc-scrolls, pre, div.math",
  );
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
