"""What an explorer says aloud: it takes each sentence away again after some seconds, so a test has to listen."""

from __future__ import annotations

from playwright.sync_api import Locator


def listen(root: Locator) -> None:
    """Keep in `window.said` what the explorer says from now on."""
    root.locator(".rc-voice").evaluate(
        """(voice) => {
          window.said = [];
          new MutationObserver(() => { if (voice.textContent) window.said.push(voice.textContent); })
            .observe(voice, { childList: true });
        }"""
    )
