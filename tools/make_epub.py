"""Write the built site as one ePub, and link it from the first page: `make epub`.

The document is that of the PDF (tools/paper.py): solutions at the end, explorers as pictures. The browser turns the
formulas into MathML, which readers of e-books know, and writes each chapter as well-formed XHTML.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import subprocess
import sys
import uuid
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import browser
import make_pdf
from playwright.sync_api import Browser, Error, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
NAME = make_pdf.EPUB
EPUBCHECK = Path("/usr/share/java/epubcheck.jar")
MOMENT = (2026, 1, 1, 0, 0, 0)  # one fixed date: two books from the same inputs shall not differ by the hour
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
    '<html xmlns="http://www.w3.org/1999/xhtml" lang="en" data-theme="light" '
)
OPS = 'xmlns:epub="http://www.idpf.org/2007/ops"'

PHONE = 44  #: letters of a table beside each other on a phone
#: Formulas as MathML, no page numbers, styles apart (XHTML has none in its body), tables in a box that can be scrolled
#: and, where their longest words need it, in small letters; each chapter as XHTML: [id, title, text], and the styles.
CHAPTERS = r"""() => {
  for (const item of MathJax.startup.document.math) {
    const formula = item.typesetRoot.querySelector("mjx-assistive-mml > math");
    formula.setAttribute("alttext", item.math);
    item.typesetRoot.replaceWith(formula);
  }
  for (const link of document.querySelectorAll(".rc-to-solution a")) {
    link.textContent = link.firstChild.data.replace(/: page\s*$/, "");
  }
  for (const table of document.querySelectorAll("main table")) {
    const longest = [];  // word of each column
    for (const row of table.rows) for (const [i, cell] of [...row.cells].entries()) {
      longest[i] = Math.max(longest[i] ?? 0, ...cell.textContent.split(/\s+/).map((word) => word.length));
    }
    if (longest.reduce((sum, letters) => sum + letters + 2, 0) > PHONE) table.classList.add("rc-small");
    const box = document.createElement("div");
    box.className = "rc-scroll";
    table.replaceWith(box);
    box.append(table);
  }
  const styles = [...document.querySelectorAll("main style")].map((style) => style.textContent);
  document.querySelectorAll("main style").forEach((style) => style.remove());
  const write = new XMLSerializer();
  const chapters = [...document.querySelectorAll("section.rc-chapter")].map((chapter) => {
    chapter.removeAttribute("style");
    const title = chapter.querySelector("h1").textContent.trim();
    return [chapter.id, [chapter.dataset.label, title].filter(Boolean).join(": "), write.serializeToString(chapter)];
  });
  return [chapters, [...new Set(styles)].join("\n")];
}""".replace("PHONE", str(PHONE))

STYLE = """
body { line-height: 1.5; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.2; break-after: avoid; }
.rc-label, .rc-on-site, .rc-summary { opacity: 0.75; font-size: 0.85em; }
pre { font-size: 0.75em; white-space: pre-wrap; overflow-wrap: anywhere; }
code { overflow-wrap: anywhere; }
div.cell_input, .rc-notice, .rc-verdict { margin: 0.6em 0; padding: 0.4em 0.7em; border-left: 3px solid #888; }
img, svg { max-width: 100%; height: auto; }
img, .rc-explorer { background: #fff; color: #222; } /* drawn in dark ink: a page may be black at night */
.rc-figure, .rc-explorer, tr { break-inside: avoid; }
.rc-explorer { padding: 0.5em; border: 1px solid #bbb; }
.rc-scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.8em; }
table.rc-small { font-size: 0.6em; }
table.rc-small th, table.rc-small td { padding: 0.15em 0.5em 0.15em 0; }
th, td { padding: 0.2em 0.5em 0.2em 0; border-bottom: 1px solid #bbb; text-align: left; vertical-align: top; }
td p, th p { margin: 0; }
blockquote { margin-left: 0; padding-left: 1em; border-left: 3px solid #bbb; }
.rc-right { font-weight: bold; }
"""


def palette() -> str:
    """The colours that the pictures of the explorers refer to, light."""
    from roofcourse.palette import swatches

    colours = "".join(f"{s.variable}:{s.light};{s.variable}-text:{s.light_text};" for s in swatches())
    return f":root{{{colours}}}\n"


def chapters(chromium: Browser, document: Path) -> tuple[list[tuple[str, str, str]], str]:
    """Id, title and XHTML of each chapter of the document of paper.assemble, and the styles that stood in them."""
    page = chromium.new_page(color_scheme="light")
    try:
        page.set_default_timeout(300_000)
        page.goto(document.as_uri())
        page.wait_for_function("window.MathJax?.startup?.promise?.then(() => true)")
        found, styles = page.evaluate(CHAPTERS)
        return [tuple(chapter) for chapter in found], styles
    finally:
        page.close()


def relink(text: str, homes: dict[str, str], site: str) -> tuple[str, set[str]]:
    """A chapter whose links name the file they lead into, and the images that it shows (paths inside the site)."""
    images = set(re.findall(rf'src="{re.escape(site)}([^"]+)"', text))
    text = text.replace(f'src="{site}', 'src="')
    return re.sub(r'(<a [^>]*?href=")#([^"]+)"', lambda m: f'{m[1]}{homes[html.unescape(m[2])]}#{m[2]}"', text), images


def properties(text: str) -> str:
    """What the list of contents of an ePub has to say of a chapter."""
    found = [name for name, tag in (("mathml", "<math"), ("svg", "<svg")) if tag in text]
    return f' properties="{" ".join(found)}"' if found else ""


def pack(
    parts: list[tuple[str, str, str]], styles: str, folder: Path, site: str, target: Path, *, title: str, author: str
) -> None:
    """Write the ePub. ``folder``: where the site's images are; ``site``: how the document reached it.

    Raises ET.ParseError for a chapter that is no XML, KeyError for a link to a name that no chapter has.
    """
    homes = {
        html.unescape(name): f"{key}.xhtml" for key, _, text in parts for name in re.findall(r'\bid="([^"]+)"', text)
    }
    files, manifest, spine, contents, images = {}, [], [], [], set()
    for key, name, text in parts:
        text, shown = relink(text, homes, site)
        ET.fromstring(text)
        images |= shown
        head = f'<head><title>{html.escape(name)}</title><link rel="stylesheet" href="book.css"/></head>'
        files[f"{key}.xhtml"] = f"{XHTML}{OPS}>{head}<body>{text}</body></html>"
        kind = "application/xhtml+xml"
        manifest.append(f'<item id="{key}" href="{key}.xhtml" media-type="{kind}"{properties(text)}/>')
        spine.append(f'<itemref idref="{key}"/>')
        contents.append(f'<li><a href="{key}.xhtml">{html.escape(name)}</a></li>')
    for number, image in enumerate(sorted(images)):
        files[image] = (folder / image).read_text(encoding="utf-8")
        manifest.append(f'<item id="image-{number}" href="{image}" media-type="image/svg+xml"/>')
    listing = f'<nav epub:type="toc"><h1>Contents</h1><ol>{"".join(contents)}</ol></nav>'
    files["nav.xhtml"] = f"{XHTML}{OPS}><head><title>Contents</title></head><body>{listing}</body></html>"
    files["book.css"] = styles + STYLE + palette() + (folder / "_static" / "pygments.css").read_text(encoding="utf-8")
    files["content.opf"] = (
        '<?xml version="1.0" encoding="utf-8"?>\n<package xmlns="http://www.idpf.org/2007/opf" version="3.0" '
        'unique-identifier="id" xml:lang="en"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, title)}</dc:identifier>'
        f"<dc:title>{html.escape(title)}</dc:title><dc:language>en</dc:language>"
        f"<dc:creator>{html.escape(author)}</dc:creator><dc:rights>Text: CC BY 4.0. Code: MIT.</dc:rights>"
        '<meta property="dcterms:modified">2026-01-01T00:00:00Z</meta></metadata><manifest>'
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        f'<item id="css" href="book.css" media-type="text/css"/>{"".join(manifest)}</manifest>'
        f'<spine><itemref idref="nav"/>{"".join(spine)}</spine></package>'
    )
    container = (
        '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="book/content.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        "</container>"
    )
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(zipfile.ZipInfo("mimetype", MOMENT), "application/epub+zip")  # first, and as it is
        everything = {"META-INF/container.xml": container, **{f"book/{name}": text for name, text in files.items()}}
        for name, text in everything.items():
            info = zipfile.ZipInfo(name, MOMENT)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)


def epubcheck() -> list[str]:
    """The command of Debian's epubcheck, warnings as errors; empty where it is not installed."""
    java = shutil.which("java")
    return [java, "-jar", str(EPUBCHECK), "--failonwarnings"] if java and EPUBCHECK.exists() else []


def check(book: Path) -> list[str]:
    """What epubcheck says against the ePub; nothing where there is none."""
    if not epubcheck():
        return []
    done = subprocess.run([*epubcheck(), str(book)], capture_output=True, text=True)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return said if done.returncode else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "book" / "_build" / "html", help="folder of the built site")
    site = parser.parse_args().site.resolve()
    folder = site.parent / "pdf"
    try:
        document = make_pdf.document(site, folder)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser.executable(), args=browser.FLAGS)
            parts, styles = chapters(chromium, document)
            chromium.close()
        pack(
            parts, styles, site, make_pdf.way(site, folder), folder / NAME, title=make_pdf.TITLE, author=make_pdf.AUTHOR
        )
        if said := check(folder / NAME):
            raise ValueError("epubcheck says\n  " + "\n  ".join(said))
        shutil.copyfile(folder / NAME, site / NAME)
        make_pdf.link(site)
    except (ValueError, Error, ET.ParseError) as error:
        sys.exit(f"stopped: {error}")
    checked = "checked by epubcheck" if epubcheck() else "not checked, for epubcheck is not installed"
    size = (site / NAME).stat().st_size / 1e6
    print(f"{site / NAME}: {len(parts)} chapters, {size:.1f} MB, {checked}, linked from the first page")


if __name__ == "__main__":
    main()
