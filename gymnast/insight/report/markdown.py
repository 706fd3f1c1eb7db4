"""Writes a report as Markdown, with pictures in separate files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gymnast.insight.report.blocks import Block, Figure, Heading, Paragraph, Picture, Table
from gymnast.insight.report.texts import chart_text


def render_markdown(blocks: Sequence[Block], picture: Callable[[str], str] | None = None) -> str:
    """Returns a report as Markdown. `picture` returns the file of the chart or picture with a name,
    relative to the report; None: charts are text only."""
    return "\n\n".join(filter(None, (_block(block, picture) for block in blocks))) + "\n"


def _block(block: Block, picture: Callable[[str], str] | None) -> str:
    """Returns one block as Markdown; `picture` returns the file of a chart or picture, None: charts
    are text only, and pictures are empty."""
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Table():
            return _table(block)
        case Figure(chart):
            text = f"```text\n{chart_text(chart)}\n```"
            if picture is None:
                return f"**{chart.title}**\n\n{text}"
            image = f"![{chart.title}]({picture(chart.name)})"
            return f"{image}\n\n<details><summary>as text</summary>\n\n{text}\n\n</details>"
        case Picture(name, title):
            return "" if picture is None else f"![{title}]({picture(name)})"


def _table(table: Table) -> str:
    rule = ["---"] * len(table.head)
    rows = [[_cell(c, i in table.code_columns) for i, c in enumerate(row)] for row in table.rows]
    lines = [[*table.head], rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str, code: bool) -> str:
    # A line break or a bar would end the cell.
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`{text}`" if code and text else text
