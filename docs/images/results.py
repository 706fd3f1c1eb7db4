"""Makes docs/images/results.png: the learning curves of all stored results that have them.

python docs/images/results.py
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
import pygame

from gymnast.insight import results
from gymnast.insight.stored_result import StoredResult

FILE = Path(__file__).with_name("results.png")
ACROSS, WIDTH, HEIGHT, LEFT = 5, 216, 140, 44
"""Number of panels per row; width, height and left margin of a panel in pixels."""
SEEDS = ((11, 110, 153), (213, 94, 0), (0, 158, 115), (204, 121, 167), (150, 110, 0))
INK, FAINT = (60, 60, 60), (150, 150, 150)


def draw() -> pygame.Surface:
    """Returns the whole picture: one panel per stored result that has curves, ACROSS panels per row."""
    found = [result for result in results.all_results() if "curves" in result["seeds"][0]]
    pygame.font.init()
    rows = -(-len(found) // ACROSS)
    sheet = pygame.Surface((ACROSS * WIDTH, rows * HEIGHT))
    sheet.fill((255, 255, 255))
    for i, result in enumerate(found):
        row, column = divmod(i, ACROSS)
        panel(sheet.subsurface((column * WIDTH, row * HEIGHT, WIDTH, HEIGHT)), result)
    return sheet


def points(result: StoredResult, kind: str) -> list[list[tuple[float, float]]]:
    """Returns the curve of each seed, as (env steps, mean return) pairs."""
    kept = [entry["curves"][kind] for entry in result["seeds"]]
    return [list(zip(curve["env_steps"], curve["return"], strict=True)) for curve in kept]


def panel(surface: pygame.Surface, result: StoredResult) -> None:
    """Draws one result: training returns as lines, evaluations as dots, the threshold dashed."""
    letters, small = pygame.font.Font(None, 16), pygame.font.Font(None, 14)
    lines, dots, bar = points(result, "training"), points(result, "evaluation"), result["threshold"]
    values = [y for curve in lines + dots for _, y in curve] + ([] if bar is None else [bar])
    longest = max(x for curve in lines + dots for x, _ in curve)
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    bottom, top, wide = HEIGHT - 22, 24, WIDTH - LEFT - 10

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + wide * x / (longest or 1), bottom - (bottom - top) * (y - low) / span

    def write(text: str, x: float, y: float, font: pygame.font.Font = small) -> None:
        surface.blit(font.render(text, True, INK), (x, y))

    write(result["preset"], 6, 5, letters)
    for value in (low, high):
        text = f"{value:,.0f}" if span > 5 else f"{value:.2f}"
        write(text, LEFT - 4 - small.size(text)[0], place(0, value)[1] - 4)
    text = f"{longest:,.0f} env steps"
    write(text, LEFT + wide - small.size(text)[0], bottom + 5)
    corners = [(LEFT, top), (LEFT, bottom), (LEFT + wide, bottom)]
    pygame.draw.lines(surface, FAINT, False, corners)
    if bar is not None:
        y = place(0, bar)[1]
        for x in range(LEFT, LEFT + wide, 6):
            pygame.draw.line(surface, FAINT, (x, y), (x + 2, y))
    for i, (line, scores) in enumerate(zip(lines, dots, strict=True)):
        ink = SEEDS[i % len(SEEDS)]
        if len(line) > 1:
            pygame.draw.aalines(surface, ink, False, [place(x, y) for x, y in line])
        for x, y in scores:
            pygame.draw.circle(surface, ink, place(x, y), 2)


def reduce_palette(sheet: pygame.Surface) -> pygame.Surface:
    """Returns the picture with a palette of the inks and their blends with white, which takes a third of the
    bytes."""
    inks, shades = (*SEEDS, INK, FAINT), 36
    blends = [
        tuple(round(255 + (part - 255) * k / (shades - 1)) for part in ink)
        for ink in inks
        for k in range(shades)
    ]
    reduced = pygame.Surface(sheet.get_size(), depth=8)
    reduced.set_palette(blends)
    reduced.blit(sheet, (0, 0))
    return reduced


if __name__ == "__main__":
    pygame.image.save(reduce_palette(draw()), FILE)
