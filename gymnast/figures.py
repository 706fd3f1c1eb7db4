"""Matplotlib figures as PNG files. Matplotlib is optional: it is installed by the extra `report`."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from gymnast.errors import GymnastError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 100
"""Resolution in dots per inch."""
PALETTE = 64
"""Number of colors in a PNG file; a small palette keeps the file small."""


def new_figure(width: float = 1.0, height: float = 1.0, *, alternative: str = "") -> Figure:
    """Returns an empty figure; `width` and `height` are in inches.

    Raises GymnastError without matplotlib. `alternative` is added to its suggestion to install
    matplotlib, such as "or use ..."."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from PIL import Image  # noqa: F401 - `to_png` needs it
    except ImportError as error:
        fix = "pip install 'gymnast[report]'" + (f", {alternative}" if alternative else "")
        raise GymnastError(f"pictures need matplotlib ({error})", fix=fix) from None
    # Without pyplot, which would keep every figure in a global list and may look for a display.
    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def to_png(figure: Figure) -> bytes:
    """Returns the figure as the contents of a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.tight_layout(pad=0.6)
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)  # of `new_figure`
    canvas.draw()
    image = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
    file = io.BytesIO()
    image.convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE).save(
        file, "png", optimize=True
    )
    return file.getvalue()
