"""Writes a report as Markdown, with pictures in separate files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gymnast.insight.chart import ChartData
from gymnast.insight.report.blocks import Block, Figure, Heading, Paragraph, Table
from gymnast.insight.report.texts import chart_text


def render_markdown(
    blocks: Sequence[Block], picture: Callable[[ChartData], str] | None = None
) -> str:
    """Returns a report as Markdown. `picture` returns the file of a chart, relative to the report;
    None: charts are text only."""
    return "\n\n".join(_block(block, picture) for block in blocks) + "\n"


def _block(block: Block, picture: Callable[[ChartData], str] | None) -> str:
    """Returns one block as Markdown; `picture` returns the file of a chart, None: charts are text
    only."""
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
            image = f"![{chart.title}]({picture(chart)})"
            return f"{image}\n\n<details><summary>as text</summary>\n\n{text}\n\n</details>"


def _table(table: Table) -> str:
    rule = ["---"] * len(table.head)
    rows = [[_cell(c, i in table.code_columns) for i, c in enumerate(row)] for row in table.rows]
    lines = [[*table.head], rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str, code: bool) -> str:
    # A line break or a bar would end the cell.
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`{text}`" if code and text else text
