"""Pictures of pages for docs/studio.md, stored only with GYMNAST_PICTURES=1."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tests.browser.studio import settle

PICTURES = os.environ.get("GYMNAST_PICTURES") == "1"
FOLDER = Path(__file__).parents[2] / "docs" / "images" / "studio"
COLORS = 128
"""Enough for pages, which have few colors, and a third of the bytes."""

DRAWING_MILLISECONDS = 1000


def store_picture(page: Page, name: str) -> None:
    """Stores what the page shows after its charts were drawn."""
    if not PICTURES:
        return
    settle(page)
    page.wait_for_timeout(DRAWING_MILLISECONDS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    shown = Image.open(BytesIO(page.screenshot())).convert("RGB")
    shown.quantize(COLORS, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)
