"""Writes a report as one HTML file with embedded pictures, without scripts and external resources."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape

from gymnast.insight.report.blocks import Block, Figure, Heading, Paragraph, Picture, Table
from gymnast.insight.report.texts import chart_text

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  background: Canvas; color: CanvasText; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; } h3 { font-size: 1rem; }
main { display: flow-root; }
table { border-collapse: collapse; font-size: .9em; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0;
  border-bottom: 1px solid color-mix(in srgb, CanvasText 15%, transparent); }
th { font-weight: 600; opacity: .7; }
code, pre { font: .9em/1.35 ui-monospace, monospace; }
pre { overflow-x: auto; }
figure { display: inline-block; vertical-align: top; margin: .5rem 1rem .5rem 0; max-width: 100%; }
figure img { max-width: 100%; border-radius: 4px; }
summary { font-size: .8em; opacity: .7; cursor: pointer; }
@media (prefers-color-scheme: dark) { figure img { filter: invert(.9) hue-rotate(180deg); } }
"""


def render_html(title: str, blocks: Sequence[Block], picture: Callable[[str], bytes]) -> str:
    """Returns a report as an HTML page. `picture` returns the PNG of the chart or picture with a name."""
    body = "\n".join(_block(block, picture) for block in blocks)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width">'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}{view}</head>\n'
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def _block(block: Block, picture: Callable[[str], bytes]) -> str:
    """Returns one block as HTML; `picture` returns the PNG with a name, which is embedded."""
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Table():
            return _table(block)
        case Figure(chart):
            image = _image(chart.title, picture(chart.name))
            text = f"<pre>{escape(chart_text(chart))}</pre>"
            return f"<figure>{image}<details><summary>as text</summary>{text}</details></figure>"
        case Picture(name, title):
            return f"<figure>{_image(title, picture(name))}</figure>"


def _image(title: str, png: bytes) -> str:
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    return f'<img alt="{escape(title)}" src="{source}">'


def _table(table: Table) -> str:
    """Returns a table as HTML, without a header row if all column titles are empty."""
    head = "".join(f"<th>{escape(word)}</th>" for word in table.head) if any(table.head) else ""
    rows = "\n".join(
        f"<tr>{''.join(_cell(text, i in table.code_columns) for i, text in enumerate(row))}</tr>"
        for row in table.rows
    )
    return f"<table>{f'<tr>{head}</tr>' if head else ''}\n{rows}</table>"


def _cell(text: str, code: bool) -> str:
    return f"<td><code>{escape(text)}</code></td>" if code else f"<td>{escape(text)}</td>"
