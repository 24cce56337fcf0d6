// Exercises and quizzes, answered in the page. What is right, and what is said to typical mistakes, comes from the
// package (questions.py writes it to window.roofcourseAnswers); the rules of checking are those of roofcourse/exercise.py
// once more, and a test holds the two equal. Without this script the page shows hints and quizzes to unfold.
(() => {
  "use strict";

  const VEIL = 0x5a;
  const OPENING = { right: "Right. ", wrong: "Not yet. ", open: "Your turn. " };

  // --- checking: as in roofcourse/exercise.py

  const unveil = (text) => JSON.parse(String.fromCharCode(...[...atob(text)].map((c) => c.charCodeAt(0) ^ VEIL)));

  const isClose = (a, b, tolerance) => Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));

  function checkNumber(exercise, given) {
    if (!Number.isFinite(given)) return ["open", `The answer is ${exercise.asked}.`]; // not wrong: not yet read
    const right = unveil(exercise.right);
    if (isClose(given, right, exercise.tolerance)) return ["right", exercise.praise];
    const mistake = exercise.mistakes.find(([value]) => isClose(given, unveil(value), exercise.tolerance));
    if (mistake) return ["wrong", mistake[1]];
    if (given % 1 && [1, 2].some((digits) => given === Number(right.toPrecision(digits)))) {
      return ["wrong", "That is the answer, rounded too far: give three digits."];
    }
    if (given > 0 && right > 0) {
      const power = Math.log10(given / right);
      const whole = Math.round(power);
      if (Math.abs(power - whole) < exercise.tolerance / 2 && whole !== 0) {
        return ["wrong", exercise.offBy.replace("{power}", whole)];
      }
    }
    return ["wrong", exercise.hints.at(-1)];
  }

  function checkChoice(exercise, given) {
    if (given === unveil(exercise.right)) return ["right", exercise.praise];
    return ["wrong", exercise.wrong[given] ?? exercise.hints.at(-1)];
  }

  const check = (exercise, given) => {
    if (given === null) return ["open", exercise.hints[0]];
    return exercise.options ? checkChoice(exercise, given) : checkNumber(exercise, given);
  };

  // --- what people type: 1044, 1,044, 1 044.5, 0,33, 1.04e3, 1.04 x 10^3, 8/3, 2 2/3, 85 %, 47 µs

  const LOOSE = /\d[\s\u00a0\u202f]+(?!\d{3}(?!\d))\d/; // a space within a number, and not before three digits of it
  const MIXED = /^(\d+)[\s\u00a0\u202f]+(\d{1,2}\s*\/\s*\d+)$/; // 2 2/3

  function readPlain(text) {
    if (LOOSE.test(text)) return NaN;
    let plain = text.replace(/[\s\u00a0\u202f]/g, "").replace(/%$/, "").replace(/^[−–]/, "-");
    plain = plain.replace(/[×x*·]10(\^|\*\*)?(?=[+−-]?\d)/i, "e").replace("e−", "e-");
    plain = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.|e|$)/i.test(plain) ? plain.replaceAll(",", "") : plain.replace(",", ".");
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  }

  const SIGNS = { microseconds: ["µs", "μs", "us"], times: ["×", "x"] };

  /** Without the unit that the answer is asked in, should it stand behind the number. */
  function withoutUnit(text, unit) {
    const names = [unit, unit.replace(/s$/, ""), ...(SIGNS[unit] ?? [])];
    const found = names.find((name) => name && text.toLowerCase().endsWith(name.toLowerCase()));
    return found ? text.slice(0, -found.length) : text;
  }

  /** The number that a reader typed, NaN if it is none, null if nothing was typed. */
  function readNumber(typed, unit = "") {
    if (typed.trim() === "") return null;
    const text = unit ? withoutUnit(typed.trim(), unit) : typed;
    const mixed = text.trim().match(MIXED);
    if (mixed) return readPlain(mixed[1]) + readNumber(mixed[2]);
    const parts = text.split("/").map(readPlain);
    return parts.length === 1 ? parts[0] : parts.length === 2 ? parts[0] / parts[1] : NaN;
  }

  /** The reply to what was typed. A comma before three digits is one of thousands, or of decimals where only that is right. */
  function replyTo(exercise, typed) {
    const found = check(exercise, readNumber(typed, exercise.unit));
    if (found[0] === "right" || !/\d,\d{3}(?!\d)/.test(typed)) return found;
    const other = check(exercise, readNumber(typed.replace(",", "."), exercise.unit));
    return other[0] === "right" ? other : found;
  }

  // --- building

  function make(name, properties = {}, ...children) {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  }

  const button = (text, type) => make("button", { type, textContent: text, className: "rc-button" });

  /** A place that is read out when its text changes. */
  const replies = () => {
    const node = make("div", { className: "rc-reply" });
    node.setAttribute("role", "status");
    return node;
  };

  function say(place, kind, message) {
    const verdict = make("p", { className: "rc-verdict", textContent: OPENING[kind] + message });
    verdict.dataset.rcVerdict = kind;
    place.replaceChildren(verdict);
  }

  /** Radio buttons in a box with a legend. `options`: what they say; a chosen one's value is its index. */
  function radios(legend, name, options) {
    const box = make("fieldset", {}, make("legend", {}, legend));
    options.forEach((option, index) => {
      box.append(make("label", {}, make("input", { type: "radio", name, value: index }), make("span", {}, option)));
    });
    return box;
  }

  // --- exercises

  function hintButton(hints) {
    const given = make("div", { className: "rc-hints" });
    given.setAttribute("role", "status");
    const ask = button("Hint", "button");
    ask.addEventListener("click", () => {
      const number = given.children.length + 1;
      given.append(make("p", {}, make("strong", {}, `Hint ${number}: `), hints[number - 1]));
      if (number < hints.length) {
        ask.textContent = "Another hint";
        return;
      }
      // the button goes, and the focus with it: to what it brought
      ask.remove();
      given.lastChild.tabIndex = -1;
      given.lastChild.focus();
    });
    return [ask, given];
  }

  function exerciseForm(key, exercise) {
    const form = make("form", { className: "rc-answer", autocomplete: "off", noValidate: true });
    const [ask, hints] = hintButton(exercise.hints);
    if (!exercise.right) {
      form.append(make("p", {}, "A function is checked where Python runs: open the notebook. "), ask, hints);
      return form;
    }
    const reply = replies();
    const row = make("div", { className: "rc-row" });
    let answered; // the reply to what stands in the form
    if (exercise.options) {
      form.append(radios(`Your answer to ${key}`, `answer-${key}`, exercise.options));
      answered = () => check(exercise, exercise.options[form.querySelector("input:checked")?.value] ?? null);
    } else {
      const input = make("input", { id: `answer-${key}`, type: "text", inputMode: "decimal", spellcheck: false });
      const what = exercise.unit === "times" ? "a factor" : `in ${exercise.unit}`;
      form.append(make("label", { htmlFor: input.id }, `Your answer to ${key}, ${what}`));
      row.append(input);
      answered = () => replyTo(exercise, input.value);
    }
    row.append(button("Check", "submit"), ask);
    form.append(row, reply, hints);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      say(reply, ...answered());
    });
    form.addEventListener("input", () => reply.replaceChildren());
    return form;
  }

  function mountExercise(stub) {
    const exercise = window.roofcourseAnswers?.[stub.dataset.rcExercise];
    if (!exercise) return;
    const paper = [stub];
    while (paper.at(-1).nextElementSibling?.matches(".rc-hint")) paper.push(paper.at(-1).nextElementSibling);
    paper.forEach((node) => node.classList.add("rc-paper"));
    paper.at(-1).after(exerciseForm(stub.dataset.rcExercise, exercise));
  }

  // --- quizzes: read from what the page shows without a script

  function readQuiz(list) {
    return [...list.children].map((item) => ({
      ask: item.firstChild.textContent,
      options: [...item.querySelectorAll("details")].map((node) => ({
        text: node.querySelector("summary").textContent,
        reply: node.querySelector("p").textContent,
        right: node.matches(".rc-right"),
      })),
    }));
  }

  /** The same order for the same seed (a linear congruential generator, its high bits). */
  function shuffled(list, seed) {
    const out = [...list];
    for (let i = out.length - 1, state = seed >>> 0; i > 0; i -= 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const j = Math.floor((state / 2 ** 32) * (i + 1));
      [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
  }

  const ENDINGS = ["", "Once more through the chapter, then.", "Look at the replies, and try again.",
    "A good start. The replies say what is missing.", "One left.", "All of it."];

  function quizForm(name, questions) {
    const form = make("form", { className: "rc-answer", autocomplete: "off", noValidate: true });
    const score = replies();
    score.tabIndex = -1;
    const again = button("Try again", "button");
    const row = make("div", { className: "rc-row" }, button("Check my answers", "submit"), again);
    const boxes = make("ol", { className: "rc-questions" });
    let attempt = 0;
    let asked = [];

    function ask() {
      asked = questions.map(({ ask: text, options }, number) => {
        // the first attempt is as printed
        const order = attempt === 0 ? options : shuffled(options, 1000 * attempt + 10 * number + options.length);
        const box = radios(`${number + 1}. ${text}`, `quiz-${name}-${number}`, order.map((option) => option.text));
        const reply = make("div");
        box.append(reply);
        box.addEventListener("input", () => reply.replaceChildren());
        return { box, order, reply };
      });
      boxes.replaceChildren(...asked.map(({ box }) => make("li", {}, box)));
      score.replaceChildren();
      again.hidden = true;
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = asked.map(({ box, order }) => order[box.querySelector("input:checked")?.value]);
      asked.forEach(({ reply }, number) => {
        const option = chosen[number];
        if (!option) return say(reply, "open", "Choose one.");
        say(reply, option.right ? "right" : "wrong", option.reply.replace(/^Right\. /, ""));
      });
      const right = chosen.filter((option) => option?.right).length;
      score.replaceChildren(make("p", {}, make("strong", {}, `${right} of ${questions.length}. `), ENDINGS[Math.max(1, right)]));
      again.hidden = false;
      score.focus();
    });
    again.addEventListener("click", () => {
      attempt += 1;
      ask();
      boxes.querySelector("input").focus();
    });
    form.append(boxes, row, score);
    ask();
    return form;
  }

  function mountQuiz(place) {
    const list = place.querySelector("ol");
    list.classList.add("rc-paper");
    place.append(quizForm(place.dataset.rcQuiz, readQuiz(list)));
  }

  // --- on paper: nothing can be folded there, so what answers a question stands at the end, as in the PDF

  /** A quiz as a list of questions with lettered options, and another one of what is said to each option. */
  function printedQuiz(questions) {
    const asked = make("ol", {});
    const said = make("ol", {});
    for (const { ask, options } of questions) {
      asked.append(make("li", {}, ask, make("ol", { type: "a" }, ...options.map(({ text }) => make("li", {}, text)))));
      const replies = options.map(({ reply, right }, number) => {
        const line = `(${"abcdef"[number]}) ${reply}`;
        return make("p", {}, right ? make("strong", {}, line) : line);
      });
      said.append(make("li", {}, ...replies));
    }
    return [asked, said];
  }

  let putBack = null; // while the page is as it is printed: what undoes that

  function answersToTheEnd() {
    if (putBack) return;
    const end = make("section", { className: "rc-at-end" }, make("h2", {}, "Solutions"));
    const swaps = [];
    const swap = (node, ...others) => {
      node.replaceWith(...others);
      swaps.push([node, others]);
    };
    for (const solution of document.querySelectorAll("article section > details")) {
      const key = solution.querySelector("summary").textContent.match(/^\s*Solution to (\d+\.\d+)\s*$/)?.[1];
      if (!key) continue;
      const hints = [...document.querySelectorAll(`[data-rc-exercise="${key}"] ~ .rc-hint`)];
      hints.forEach((hint) => swap(hint, document.createComment("")));
      const what = hints.length ? "Hint and solution" : "Solution";
      swap(solution, make("p", { className: "rc-to-solution" }, `${what} to ${key}: at the end.`));
      end.append(make("h3", {}, key), ...hints, solution);
    }
    for (const list of document.querySelectorAll("[data-rc-quiz] > ol")) {
      const [asked, said] = printedQuiz(readQuiz(list));
      swap(list, asked, make("p", { className: "rc-to-solution" }, "Answers: at the end."));
      end.append(make("h3", {}, "Five questions"), said);
    }
    document.querySelector("article").append(end);
    putBack = () => {
      for (const [node, [first, ...others]] of swaps) {
        first.replaceWith(node);
        others.forEach((other) => other.remove());
      }
      end.remove();
      putBack = null;
    };
  }

  const onPaper = matchMedia("print"); // for browsers that know no event before printing
  onPaper.addEventListener("change", () => (onPaper.matches ? answersToTheEnd() : putBack?.()));
  window.addEventListener("beforeprint", answersToTheEnd);
  window.addEventListener("afterprint", () => putBack?.());

  window.roofcourseQuestions = { check, readNumber, replyTo, shuffled };
  document.querySelectorAll("[data-rc-exercise]").forEach(mountExercise);
  document.querySelectorAll("[data-rc-quiz]").forEach(mountQuiz);
})();
