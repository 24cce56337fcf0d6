"""One page of the site, open in a browser, and all that goes wrong while it is read."""

from __future__ import annotations

from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Page, Request, Route

BAD = ("error", "warning")  # kinds of messages on the browser's console

#: Scripts that watch a size are told when the next frame is drawn, and what they then change is in the one after it.
DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))"


def resize(page: Page, width: int, height: int = 900) -> None:
    """Another window, and all that follows from it on the page."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(DRAWN)


class Visit:
    """One page of the site, open in a browser that reaches nothing but the site."""

    def __init__(self, page: Page, base: str, scripts: bool):
        self.page = page
        self.base = base
        self.scripts = scripts
        self.problems: list[str] = []  # console errors, script errors, failed requests
        self.broken_off: list[str] = []  # requests that the browser gave up: the page was left before they came
        self.outside: list[str] = []  # requests for anything that is not part of the site
        page.route("**/*", self._gate)
        page.on("console", lambda m: self.problems.append(f"{m.type}: {m.text}") if m.type in BAD else None)
        page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", lambda r: self.problems.append(f"{r.status}: {r.url}") if r.status >= 400 else None)

    def _gate(self, route: Route) -> None:
        url = route.request.url
        if url.startswith((self.base, "data:", "blob:")):
            route.continue_()
        else:
            self.outside.append(url)
            route.abort()

    def _failed(self, request: Request) -> None:
        if request.failure == "net::ERR_ABORTED" and request.url.startswith(self.base):
            self.broken_off.append(request.url)
        elif self.scripts or request.resource_type != "script":  # without JavaScript, preloaded scripts are cancelled
            self.problems.append(f"failed: {request.url}")

    def missed(self) -> list[str]:
        """What was broken off and would not have come: a page may be left while its icon is on the way, not without."""
        return [url for url in self.broken_off if not _is_there(url)]

    def goto(self, path: str) -> Page:
        self.page.goto(self.base + path)
        if self.scripts:  # what a reader waits for: type set (and before it, explorers alive)
            self.page.wait_for_function("!window.MathJax?.startup || window.MathJax.startup.promise.then(() => true)")
        return self.page


def _is_there(url: str) -> bool:
    try:
        with urlopen(url):
            return True
    except URLError:  # of files; of http its child HTTPError
        return False
