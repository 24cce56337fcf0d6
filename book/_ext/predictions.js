// What follows a question "Predict." can be hidden until the reader has an answer: in class, or on a phone, where question and
// answer share a screen. Off until asked for; the browser remembers the choice. Nothing is lost while it is on: the browser's
// search and links into a hidden part open it, and paper has everything.
(() => {
  "use strict";

  const KEY = "rc-cover";
  const STOPS = "section, h1, h2, h3, h4, .rc-question";

  // Where the browser's own search can open what is hidden.
  const FOUND = "onbeforematch" in document.documentElement;

  /** A browser may be set to keep nothing: then the choice holds for the page. */
  const kept = (act) => {
    try {
      return act(localStorage);
    } catch {
      return null;
    }
  };

  const isQuestion = (p) => p.firstElementChild?.tagName === "STRONG" && p.textContent.startsWith("Predict") && !p.closest("li");

  /** What stands after a question up to the next one, or to the end of the section; an explorer there is how to find out. */
  function answerOf(question) {
    const box = question.closest("blockquote");
    if (box && [...box.querySelectorAll("p")].at(-1) !== question) return [];
    const found = [];
    for (let node = (box ?? question).nextElementSibling; node && !node.matches(STOPS); node = node.nextElementSibling) {
      if (node.querySelector(".rc-question")) break;
      if (found.length > 0 || !node.matches(".rc-explorer")) found.push(node);
    }
    return found;
  }

  const button = (text, act) => {
    const node = document.createElement("button");
    node.type = "button";
    node.className = "rc-button";
    node.textContent = text;
    node.addEventListener("click", act);
    return node;
  };

  const row = (...children) => {
    const node = document.createElement("div");
    node.className = "rc-answer rc-cover";
    node.append(...children);
    return node;
  };

  function cover({ question, nodes }, index) {
    const cloth = document.createElement("div");
    cloth.className = "rc-covered";
    cloth.tabIndex = -1;
    cloth.hidden = FOUND ? "until-found" : true;
    question.id ||= `rc-question-${index}`;
    const show = button("Show what follows", () => {
      open();
      cloth.focus({ preventScroll: true }); // the keyboard goes on from there
    });
    show.setAttribute("aria-describedby", question.id);
    const shown = row(show);
    const open = () => {
      cloth.removeAttribute("hidden");
      shown.remove();
    };
    nodes[0].before(shown, cloth);
    cloth.append(...nodes);
    cloth.addEventListener("beforematch", open);
    return {
      cloth,
      open,
      remove() {
        shown.remove();
        cloth.replaceWith(...cloth.childNodes);
      },
    };
  }

  function start() {
    const questions = [...document.querySelectorAll("article p")].filter(isQuestion);
    for (const question of questions) question.classList.add("rc-question");
    const places = questions.map((question) => ({ question, nodes: answerOf(question) })).filter(({ nodes }) => nodes.length > 0);
    if (places.length === 0) return;
    let covers = [];

    const set = (on) => {
      for (const one of covers) one.remove();
      covers = on ? places.map(cover) : [];
      followAddress();
    };

    /** Whoever follows a link wants to see where it leads. */
    function followAddress() {
      const name = location.hash.slice(1); // ids are plain ASCII; what somebody else has made of an address may not decode
      const target = name.startsWith("explorer=") ? null : document.getElementById(name);
      for (const { cloth, open } of covers) {
        if (target ? cloth.contains(target) : name.startsWith("explorer=") && cloth.querySelector(".rc-explorer")) open();
      }
      if (target?.closest(".rc-covered")) target.scrollIntoView();
    }

    const choice = document.createElement("input");
    choice.type = "checkbox";
    const label = document.createElement("label");
    label.append(choice, " Hide what follows a question until I ask");
    questions[0].after(row(label)); // also where its own answer stands in another section: a reader meets it there
    choice.addEventListener("change", () => {
      kept((store) => store.setItem(KEY, choice.checked ? "on" : "off"));
      set(choice.checked);
    });
    choice.checked = kept((store) => store.getItem(KEY)) === "on";
    set(choice.checked);
    addEventListener("hashchange", followAddress);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
