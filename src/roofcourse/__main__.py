"""``python -m roofcourse``: the command ``roofcourse``."""

import sys

from .cli import main

sys.exit(main())
