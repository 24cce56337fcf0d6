"""Several explorers of one kind on a page: what the first one has said of the devices is not said again.

The devices with their sweeps are most of an explorer's data. In a later one a device that the first has as well is its
place in that list; `host_static.js` puts the device back.
"""

from __future__ import annotations

import json
import re

DATA = re.compile(r'(data-rc-explorer="(\w+)"[^>]*><script type="application/json">)(.*?)(?=</script>)', re.DOTALL)


def share_devices(body: str) -> str:
    """The page's body with each device once for each kind of explorer."""
    first: dict[str, list] = {}

    def shorter(match: re.Match) -> str:
        data = json.loads(match[3])
        devices = data["spec"].get("devices")
        if not isinstance(devices, list):
            return match[0]
        known = first.setdefault(match[2], devices)
        if known is devices:
            return match[0]
        data["spec"]["devices"] = [known.index(d) if d in known else d for d in devices]
        # "<" could end the script element early; JSON may write it as an escape.
        return match[1] + json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")

    return DATA.sub(shorter, body)
