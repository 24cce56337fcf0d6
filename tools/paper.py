"""The whole book as one HTML document for paper, from the built pages: what `make pdf` prints.

A screen folds, scrolls and answers; paper does none of it. So this module unfolds what is folded, puts the code of a
figure below the figure, takes the answers of exercises and quizzes to the end of the book, and turns every link between
pages into one inside the document. It changes text and structure only; how it looks is in paper.css.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parents[1]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SOLUTIONS = "solutions"
#: Sections that every chapter has: in the contents they would be noise.
UNLISTED = {"Five questions", "Three sentences to remember"}
#: What answers, folds or loads on a screen, and the drawings for dark pages and for phones.
SCREEN_ONLY = "script, form, button, a.headerlink, picture.rc-dark, picture source, .rc-needs-kernel, .rc-forms"
#: Attributes that name an element by its id.
REFERENCES = ("for", "aria-labelledby", "aria-describedby", "aria-controls")
#: MathJax makes its letters as tall as those around them, and the letters of DejaVu are tall.
MATHJAX = {
    "options": {"enableMenu": False, "processHtmlClass": "math", "ignoreHtmlClass": "book"},
    "svg": {"scale": 0.92},
}


@dataclass(frozen=True)
class Page:
    """One page of the site. ``label``: "Chapter 3", "Appendix B", or "" for the page in front."""

    file: str
    part: str
    label: str

    @property
    def key(self) -> str:
        return self.file.replace("/", "-")


def pages(toc: dict) -> list[Page]:
    """The pages of the table of contents, in its order. Chapters have numbers, appendices letters."""
    found = [Page(toc["root"], "", "")]
    chapters = appendices = 0
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            if part["caption"] == "Appendix":
                label = f"Appendix {LETTERS[appendices]}"
                appendices += 1
            else:
                chapters += 1
                label = f"Chapter {chapters}"
            found.append(Page(chapter["file"], part["caption"], label))
    return found


def contents(book: Path = ROOT / "book") -> list[Page]:
    return pages(yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8")))


def text_of(node: Tag) -> str:
    return " ".join(node.get_text(" ", strip=True).split())


class Paper:
    """Collects the bodies of the pages, and the answers that go to the end."""

    def __init__(self, all_pages: Iterable[Page], site: str):
        self.pages = {page.file: page for page in all_pages}
        self.site = site  # how the document reaches the site's folder: "../html/"
        self.soup = BeautifulSoup("", "html.parser")
        self.solutions: list[tuple[Page, list[Tag]]] = []

    def new(self, name: str, text: str = "", classes: str = "", **attributes: str) -> Tag:
        tag = self.soup.new_tag(name, attrs={**({"class": classes} if classes else {}), **attributes})
        if text:
            tag.string = text
        return tag

    def reference(self, target: str, text: str) -> Tag:
        """A link with the number of the page that it leads to; the number is put in when the pages are known."""
        link = self.new("a", href=f"#{target}")
        link.append(f"{text} ")
        link.append(self.new("span", classes="rc-page", **{"data-for": target}))
        return link

    # --- one page

    def body(self, page: Page, source: str) -> Tag:
        """The page's article as a section of the document."""
        article = BeautifulSoup(source, "html.parser").select_one("article.bd-article")
        if article is None:
            raise ValueError(f"{page.file}: no article on the page: is the site built?")
        for node in article.select(SCREEN_ONLY):
            node.decompose()
        for questions in article.select(".rc-next"):
            # Opened one by one on a screen. The figure before them has the whole chart, so cell and words go.
            cell = questions.find_parent(class_="cell")
            cell.find_previous_sibling("p").decompose()
            cell.decompose()
        for node in article.select("section"):
            node["class"] = []  # tex2jax_ignore and such: formulas are marked by themselves
        answers = [*self.take_exercises(article), *self.take_quiz(page, article)]
        if answers:
            self.solutions.append((page, answers))
        self.mark_explorers(article)
        self.unfold(article)
        for image in article.select("img"):
            image.attrs.pop("loading", None)
        self.readdress(page, article)
        return self.chapter(page, article)

    def chapter(self, page: Page, article: Tag) -> Tag:
        heading = article.find("h1")
        if heading is None:
            raise ValueError(f"{page.file}: no heading of the first level")
        if not page.label:
            heading.string = "Introduction"  # the book's title stands on the page before
        else:
            heading.insert_before(self.new("p", page.label, "rc-label"))
        section = self.new("section", classes="rc-chapter", id=page.key)
        section["style"] = f"page:{page.key}"
        section["data-label"] = page.label
        for child in list(article.children):
            section.append(child.extract())
        return section

    def take_exercises(self, article: Tag) -> list[Tag]:
        """Hints and solutions out of the page, in place of a solution a reference to it."""
        taken = []
        hints = {}
        for verdict in article.select("[data-rc-exercise]"):
            found = verdict.parent.select("details.rc-hint")
            hints[verdict["data-rc-exercise"]] = [text_of(p) for d in found for p in d.find_all("p")]
            for hint in found:
                hint.decompose()
        for details in article.find_all("details"):
            summary = details.find("summary")
            match = re.fullmatch(r"Solution to (\d+\.\d+)", text_of(summary)) if summary else None
            if not match:
                continue
            number = match[1]
            block = self.new("div", classes="rc-solution", id=f"solution-{number}")
            block.append(self.new("h3", number))
            for hint in hints.get(number, []):
                line = self.new("p", classes="rc-hint")
                line.append(self.new("em", "Hint. "))
                line.append(hint)
                block.append(line)
            place = self.new("p", classes="rc-to-solution")
            place.append(self.reference(f"solution-{number}", f"Hint and solution to {number}: page"))
            details.insert_before(place)
            summary.decompose()
            for child in list(details.extract().children):
                block.append(child)
            taken.append(block)
        return taken

    def take_quiz(self, page: Page, article: Tag) -> list[Tag]:
        """The options stay, lettered; what is said to each goes to the end."""
        taken = []
        for number, quiz in enumerate(article.select(".rc-quiz")):
            target = f"{page.key}-quiz" + (f"-{number}" if number else "")
            block = self.new("div", classes="rc-solution", id=target)
            block.append(self.new("h3", "Five questions"))
            replies = self.new("ol")
            for question in quiz.select("li"):
                options, reply = self.new("ol", classes="rc-options", type="a"), self.new("li")
                for letter, details in zip("abcdef", question.find_all("details"), strict=False):
                    summary = details.find("summary").extract()
                    option = self.new("li")
                    for child in list(summary.children):
                        option.append(child.extract())
                    options.append(option)
                    right = "rc-right" in details.get("class", [])
                    line = self.new("p", f"({letter}) ", "rc-right" if right else "")
                    line.append(text_of(details))
                    reply.append(line)
                    details.decompose()
                question.append(options)
                replies.append(reply)
            block.append(replies)
            place = self.new("p", classes="rc-to-solution")
            place.append(self.reference(target, "Answers: page"))
            quiz.insert_after(place)
            taken.append(block)
        return taken

    def mark_explorers(self, article: Tag) -> None:
        for explorer in article.select(".rc-explorer"):
            note = "An explorer: on the site its controls can be moved. Here is where it starts."
            explorer.append(self.new("p", note, "rc-on-site"))

    def unfold(self, article: Tag) -> None:
        """Whatever is folded stands open; the code of a figure comes after the figure."""
        for details in article.find_all("details"):
            summary = details.find("summary")
            folded_code = "hide" in details.get("class", [])
            open_box = self.new("div", classes="rc-code" if folded_code else "rc-open")
            title = "The code of this figure" if folded_code else text_of(summary) if summary else ""
            if summary:
                summary.decompose()
            if title:
                open_box.append(self.new("p", title, "rc-summary"))
            for child in list(details.children):
                open_box.append(child.extract())
            output = details.find_next_sibling(class_="cell_output") if folded_code else None
            if output is None:
                details.replace_with(open_box)
            else:
                details.decompose()
                output.insert_after(open_box)

    # --- addresses

    def readdress(self, page: Page, article: Tag) -> None:
        """Names of the page become names of the document, links between pages links inside it."""

        def own(name: str) -> str:
            return f"{page.key}--{name}"

        for node in article.find_all(True):
            if "id" in node.attrs:
                node["id"] = own(node["id"])
            for key in REFERENCES:
                if key in node.attrs:
                    node[key] = " ".join(own(name) for name in str(node[key]).split())
            for key, value in list(node.attrs.items()):
                if isinstance(value, str) and "url(#" in value:
                    node[key] = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{own(m[1])})", value)
            if "xlink:href" in node.attrs and node["xlink:href"].startswith("#"):
                node["xlink:href"] = f"#{own(node['xlink:href'][1:])}"
            if node.name == "use" and node.get("href", "").startswith("#"):
                node["href"] = f"#{own(node['href'][1:])}"
        for image in article.select("img[src]"):
            image["src"] = self.site + posixpath.normpath(posixpath.join(posixpath.dirname(page.file), image["src"]))
        for link in article.select("a[href]"):
            target = self.target(page, link["href"])
            if target:
                link["href"] = target
                link.attrs.pop("download", None)
            else:
                link.unwrap()  # a file of the site: paper has only its name

    def target(self, page: Page, href: str) -> str | None:
        if re.match(r"#(solution-\d|[\w-]+-quiz)", href):
            return href  # a name that this module gave
        parts = urlsplit(href)
        if parts.scheme or parts.netloc:
            return href
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.file), unquote(parts.path)))
        fragment = unquote(parts.fragment)
        there = self.pages.get(path.removesuffix(".html")) if parts.path else page
        if there is None:
            return None
        if not fragment or fragment.startswith("explorer="):
            return f"#{there.key}"
        return f"#{there.key}--{fragment}"

    # --- around the pages

    def solutions_page(self, label: str) -> Tag:
        section = self.new("section", classes="rc-chapter", id=SOLUTIONS)
        section["style"] = f"page:{SOLUTIONS}"
        section["data-label"] = label
        section.append(self.new("p", label, "rc-label"))
        section.append(self.new("h1", "Solutions"))
        words = "To the exercises and to the five questions of each chapter. The right option stands in bold."
        section.append(self.new("p", words))
        for page, blocks in self.solutions:
            part = self.new("section", id=f"{SOLUTIONS}--{page.key}")
            part.append(self.new("h2", page.label))
            for block in blocks:
                self.unfold(block)
                self.readdress_solution(page, block)
                part.append(block)
            section.append(part)
        return section

    def readdress_solution(self, page: Page, block: Tag) -> None:
        name = block.attrs.pop("id")
        self.readdress(page, block)
        block["id"] = name

    def listing(self, sections: list[Tag]) -> Tag:
        nav = self.new("nav", classes="rc-contents")
        nav.append(self.new("h1", "Contents"))
        part = None
        for section in sections:
            page = next((p for p in self.pages.values() if p.key == section["id"]), None)
            caption = page.part if page else "Appendix"
            if caption and caption != part:
                nav.append(self.new("p", caption, "rc-part"))
                part = caption
            nav.append(self.entry("rc-entry", section["id"], section["data-label"], text_of(section.find("h1"))))
            if not section["data-label"].startswith("Chapter"):
                continue
            for heading in section.find_all("h2"):
                title = text_of(heading)
                if title not in UNLISTED:
                    nav.append(self.entry("rc-subentry", heading.parent["id"], "", title))
        return nav

    def entry(self, classes: str, target: str, label: str, title: str) -> Tag:
        line = self.new("p", classes=classes)
        link = self.new("a", href=f"#{target}")
        if label:
            link.append(self.new("span", label.removeprefix("Chapter "), "rc-number"))
        link.append(self.new("span", title, "rc-title"))
        link.append(self.new("span", classes="rc-dots"))
        link.append(self.new("span", classes="rc-page", **{"data-for": target}))
        line.append(link)
        return line


def running_heads(sections: list[Tag]) -> str:
    """A page style for each chapter: its name on top. (Chromium knows no string-set.)"""
    rules = []
    for section in sections:
        label, title = section["data-label"], text_of(section.find("h1"))
        head = f"{label}  ·  {title}" if label else title
        text = head.replace("\\", "\\\\").replace('"', '\\"')
        rules.append(f'@page {section["id"]} {{ @top-left {{ content: "{text}"; }} }}')
    return "\n".join(rules)


def assemble(sources: dict[str, str], all_pages: list[Page], *, title: str, facts: list[str], site: str) -> str:
    """The document. ``sources``: each page's HTML by its name in the contents, as "notebooks/01_bounds".
    ``facts``: lines of the title page below the title. ``site``: path from the document to the site's folder, with a
    slash at its end.

    Raises ValueError for a page without article or heading, and for a link inside the document that leads nowhere.
    """
    paper = Paper(all_pages, site)
    sections = [paper.body(page, sources[page.file]) for page in all_pages]
    if paper.solutions:
        letters = sum(page.label.startswith("Appendix") for page in all_pages)
        sections.append(paper.solutions_page(f"Appendix {LETTERS[letters]}"))
    body = paper.new("main", classes="book")
    front = paper.new("section", classes="rc-title-page")
    front.append(paper.new("p", title, "rc-book-title"))
    for fact in facts:
        front.append(paper.new("p", fact))
    body.append(front)
    body.append(paper.listing(sections))
    for section in sections:
        body.append(section)
    check(body)
    style = (Path(__file__).with_name("paper.css")).read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>\n"
        + "".join(
            f'<link rel="stylesheet" href="{site}_static/{name}">\n' for name in ("pygments.css", "roofcourse.css")
        )
        + f"<style>\n{style}\n{running_heads(sections)}\n</style>\n"
        f"<script>window.MathJax = {json.dumps(MATHJAX)}</script>\n"
        f'<script defer src="{site}_static/vendor/mathjax/tex-svg-full.js"></script>\n'
        f"</head><body>{body}</body></html>\n"
    )


def check(body: Tag) -> None:
    """Every name once, every link inside the document to a name."""
    names = [node["id"] for node in body.select("[id]")]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) != len(names) else []
    if twice:
        raise ValueError(f"names that stand twice in the document: {', '.join(twice[:5])}")
    known = set(names)
    lost = [a["href"] for a in body.select('a[href^="#"]') if a["href"][1:] not in known]
    if lost:
        raise ValueError(f"links that lead nowhere: {', '.join(lost[:5])}")
