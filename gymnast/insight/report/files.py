"""Writing the files of a report."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.insight.report import pictures
from gymnast.insight.report.blocks import Block, Figure, Picture
from gymnast.insight.report.html import render_html
from gymnast.insight.report.markdown import render_markdown
from gymnast.runs.files import refuse_link

FORMATS = ("md", "html")


def write_report(
    blocks: list[Block],
    title: str,
    *,
    formats: Collection[str],
    default_dir: Path,
    out: Path | None,
) -> list[Path]:
    """Writes a report and returns the files written, pictures included.

    `formats`: `md` and `html`; empty means both, or the suffix of `out`. `out`: a directory, or a
    file whose suffix is the format; by default `default_dir`. Markdown alone has no pictures if
    matplotlib is missing; HTML raises GymnastError then."""
    folder, stem, formats = _destination(formats, default_dir, out)
    # HTML needs the pictures; Markdown takes them if they can be drawn.
    drawing = "html" in formats or pictures.has_matplotlib()
    if drawing:
        pictures.require_matplotlib()
    drawn = {
        b.chart.name if isinstance(b, Figure) else b.name: b
        for b in blocks
        if isinstance(b, Figure | Picture)
    }
    files: dict[Path, bytes] = {}

    @cache  # both formats show the same pictures, and drawing is what takes time
    def png(name: str) -> bytes:
        block = drawn[name]
        return pictures.chart_png(block.chart) if isinstance(block, Figure) else block.draw()

    def save_picture(name: str) -> str:
        file = f"{name}.png" if stem == "report" else f"{stem}-{name}.png"
        files[folder / file] = png(name)
        return file

    if "md" in formats:
        text = render_markdown(blocks, save_picture if drawing else None)
        files = {
            folder / f"{stem}.md": text.encode(),
            **files,
        }  # render_markdown added the pictures
    if "html" in formats:
        page = render_html(title, blocks, png)
        files[folder / f"{stem}.html"] = page.encode()
    # Everything is rendered before the first byte is written, so an error leaves no half of a report.
    _refuse_overwriting(files, {folder / f"{stem}.{suffix}" for suffix in FORMATS})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            # In the run itself, a link could lead to any file of the user.
            (refuse_link(path) if out is None else path).write_bytes(data)
    except OSError as error:
        problem = f"the report cannot be written: {error.strerror}"
        raise RunError(problem, at=str(folder), fix="--out DIR writes it elsewhere") from error
    return list(files)


def _refuse_overwriting(files: Collection[Path], pages: Collection[Path]) -> None:
    """Raises UsageError if pictures would be overwritten in a folder without an earlier report, since they
    would not be ours."""
    existing = [path for path in files if path not in pages and path.exists()]
    if existing and not any(page.exists() for page in pages):
        problem = (
            f"{existing[0].name} already exists, and there is no report that it could belong to"
        )
        raise UsageError(
            problem, at=str(existing[0].parent), fix="name another directory with --out"
        )


def _destination(
    formats: Collection[str], default_dir: Path, out: Path | None
) -> tuple[Path, str, Collection[str]]:
    """Returns the directory, the file name without its suffix, and the formats to write."""
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        expected = " and ".join(FORMATS)
        raise UsageError(f"{', '.join(unknown)} is not a format of reports (expected {expected})")
    suffix = "" if out is None else out.suffix.removeprefix(".")
    if out is None or suffix not in FORMATS:
        return out or default_dir, "report", formats or FORMATS
    if formats and set(formats) != {suffix}:
        options = " and ".join(f"--{name}" for name in formats)
        raise UsageError(f"{options} cannot write to {out.name}", fix="give a directory as --out")
    return out.parent, out.stem, (suffix,)
