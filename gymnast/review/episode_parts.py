"""The parts of a bundle about an episode: its description, key moments, steps and frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gymnast.insight.report.blocks import Block, Heading, Paragraph, Table
from gymnast.inspector.moments import KeyMoment
from gymnast.inspector.option_names import table_with_option_names
from gymnast.inspector.record import EpisodeInspection
from gymnast.review.part import Part, part_of_blocks
from gymnast.review.steps_text import Cell, cell_text, choose_columns, choose_steps, steps_text
from gymnast.text import formatting

MAX_MOMENTS = 12
"""Number of key moments in a bundle: the largest ones."""


def episode_parts(inspection: EpisodeInspection) -> list[Part]:
    """Returns the parts about an episode, without its frames."""
    return [
        part_of_blocks("episode", 2, [Heading("The episode"), *_description(inspection)]),
        part_of_blocks("moments", 2, [Heading("Key moments"), *_moments(inspection)]),
        part_of_blocks("steps", 7, [Heading("Steps of the episode"), *_steps(inspection)]),
    ]


def largest_moments(inspection: EpisodeInspection) -> list[KeyMoment]:
    """Returns the key moments of an episode, the largest of their kinds first."""
    return sorted(inspection.moments, key=lambda moment: -moment.size)[:MAX_MOMENTS]


def _moments(inspection: EpisodeInspection) -> Iterator[Block]:
    """Yields a table of the key moments in the order of the steps."""
    shown = sorted(largest_moments(inspection), key=lambda moment: moment.step)
    if not shown:
        yield Paragraph("No step is unusual.")
        return
    if len(shown) < len(inspection.moments):
        yield Paragraph(f"The {len(shown)} largest of {len(inspection.moments)}.")
    rows = [(str(m.step), m.kind.replace("_", " "), m.text) for m in shown]
    yield Table(("step", "kind", "what happened"), rows)


def _description(inspection: EpisodeInspection) -> Iterator[Block]:
    info = inspection.info
    rows = [
        ("environment", inspection.env),
        ("kind", f"{info.kind}, number {info.number}"),
        ("policy", f"after {info.version:,} env steps"),
        ("seed", str(info.seed)),
        ("length", formatting.count_noun(info.length, "step")),
        ("outcome", info.outcome),
    ]
    if info.raw_return is not None:
        rows.append(("return", formatting.number(info.raw_return)))
    for role, value in info.returns.items():
        player = info.cast.get(role, "")
        rows.append((f"return of {role}", f"{formatting.number(value)}, played by {player}"))
    rows += [(name, f"{value:.6g}") for name, value in info.numbers.items()]
    if inspection.actions:
        names = ", ".join(f"{a.index} {a.name}" for a in inspection.actions)
        rows.append(("actions", names))
    replay = inspection.replay
    exact = "repeats the episode exactly" if replay.exact else replay.note
    rows.append(("replay", exact))
    yield Table(("what", "value"), rows)
    for note in (inspection.policy_note, inspection.frames_note):
        if note:
            yield Paragraph(f"Note: {note}.")


def _steps(inspection: EpisodeInspection) -> Iterator[Block]:
    table = table_with_option_names(inspection)
    total = len(table["step"])  # an agent may be out before the match ends
    steps = choose_steps(total, [moment.step for moment in largest_moments(inspection)])
    if len(steps) < total:
        which = "the first, the last, those around key moments, and others in equal distances"
        yield Paragraph(f"{len(steps)} of {total:,} steps: {which}.")
    _, constant, omitted = choose_columns(table)
    if constant:
        yield Paragraph(f"The same in every step: {_assignments(constant)}.")
    if omitted:
        yield Paragraph(
            f"Without {formatting.count_noun(len(omitted), 'column')}: {_names(omitted)}."
        )
    yield Paragraph(f"```csv\n{steps_text(table, steps)}\n```")


def _assignments(values: dict[str, Cell]) -> str:
    return ", ".join(f"{name} {cell_text(value) or 'no'}" for name, value in values.items())


def _names(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
