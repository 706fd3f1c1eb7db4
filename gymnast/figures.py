"""Figures of matplotlib as PNG. Only who wants pictures needs it: the extra `report`."""

from __future__ import annotations

import io
from typing import Any

from gymnast.errors import GymnastError

DPI = 100
"""Dots per inch."""
PALETTE = 64
"""Colours of the file, which keeps it small."""


def blank(width: float = 1.0, height: float = 1.0, *, otherwise: str = "") -> Any:
    """An empty figure, in inches; `otherwise` says what to do without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from PIL import Image  # noqa: F401 - `png` needs it
    except ImportError as error:
        fix = "pip install 'gymnast[report]'" + (f", {otherwise}" if otherwise else "")
        raise GymnastError(f"pictures need matplotlib ({error})", fix=fix) from None
    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def png(figure: Any) -> bytes:
    from PIL import Image

    figure.tight_layout(pad=0.6)
    canvas = figure.canvas
    canvas.draw()
    drawn = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
    file = io.BytesIO()
    drawn.convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE).save(
        file, "png", optimize=True
    )
    return file.getvalue()
