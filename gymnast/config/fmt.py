"""Canonical layout of a config file: keys in the order of the schema, comments where they were.

Works on lines, not on values: an entry is its key's lines and the comments right above them, and
moves as a whole. Comments after the last key of a section, or of the file, stay at its end. What an entry
contains is never rewritten.
"""

from __future__ import annotations

from collections.abc import Collection

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node

from gymnast.config.config import CONFIGS
from gymnast.config.problems import Key, Problem, Refused, fields_at
from gymnast.config.saved import is_stored
from gymnast.config.source import Source


def fmt(text: str, at: str = "") -> str:
    """The same settings and comments in canonical order. `at` names the file in messages."""
    source = Source.read(text, at)
    if source.repeated:
        raise Refused(source.repeated)
    root = YAML(typ="safe", pure=True).compose(text)
    if not isinstance(root, MappingNode) or root.flow_style:
        return text
    lines = [line.rstrip(" \t\r") for line in text.rstrip("\n").split("\n")]
    head = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    *sections, last, tail = _entries(root, (), lines, head, len(lines))
    below = _tail(last, len(last), 0)  # of the section that is last now
    parts = (*sections, last[:below], [*last[below:], *tail])
    entries = [_trimmed(part) for part in parts if any(part)]
    gap = "\n" if is_stored(source.data) else "\n\n"  # the sections of a preset stand apart
    body = gap.join("\n".join(entry) for entry in entries)
    apart = [""] if head and not lines[head] else []
    formatted = "\n".join([*lines[:head], *apart, body, ""])
    if not _says(formatted, source.data):
        text = "cannot be put in order without changing it (is an anchor used?)"
        raise Refused([Problem(at, "", text)])
    return formatted


def _says(text: str, data: object) -> bool:
    try:
        return Source.read(text).data == data
    except Refused:
        return False


def _entries(
    node: MappingNode, path: Key, lines: list[str], start: int, end: int
) -> list[list[str]]:
    """The lines of each entry of a block mapping between two lines, in canonical order; then those of
    the comments at its end."""
    keys = [key for key, _ in node.value]
    tail = _tail(lines, end, keys[-1].start_mark.column)
    first = [start, *(_first_line(key, lines) for key in keys[1:]), tail]
    entries: dict[str, list[str]] = {}
    for i, (key, value) in enumerate(node.value):
        inner = (*path, str(key.value))
        body = key.start_mark.line + 1
        entries[inner[-1]] = [
            *lines[first[i] : body],
            *_ordered(value, inner, lines, body, first[i + 1]),
        ]
    ordered = [entries[name] for name in _sorted(list(entries), _order(path, entries))]
    return [*ordered, lines[tail:end]]


def _ordered(node: Node, path: Key, lines: list[str], start: int, end: int) -> list[str]:
    if not isinstance(node, MappingNode) or node.flow_style or not node.value:
        return lines[start:end]
    ordered: list[str] = []
    for entry in _entries(node, path, lines, start, end):
        follows_comment = bool(ordered) and ordered[-1].lstrip().startswith("#")
        # a comment below a key must not become one above another key
        apart = [""] if follows_comment and entry and entry[0] else []
        ordered += [*apart, *entry]
    while not ordered[0]:
        del ordered[0]
    return ordered


def _tail(lines: list[str], end: int, column: int) -> int:
    """Where the comments begin that end a mapping whose keys are in this column: none of them is
    indented further."""
    while not (text := lines[end - 1].lstrip()) or (
        text.startswith("#") and lines[end - 1].index("#") <= column
    ):
        end -= 1
    return end


def _first_line(key: Node, lines: list[str]) -> int:
    """Where an entry begins: at the comments and the empty line right above its key."""
    first, indent = key.start_mark.line, " " * key.start_mark.column
    while lines[first - 1].startswith(f"{indent}#"):
        first -= 1
    while not lines[first - 1]:
        first -= 1
    return first


def _trimmed(entry: list[str]) -> list[str]:
    """Without empty lines around it, and never two in a row."""
    kept = [line for i, line in enumerate(entry) if line or (i and entry[i - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return kept[1:] if kept and not kept[0] else kept


def _order(path: Key, present: Collection[str]) -> list[str]:
    """The canonical keys at this place of a preset or of a run's config."""
    model = next(iter(CONFIGS.values()))
    sections = list(model.model_fields)
    if not path:
        return (
            sections
            if "algo" in present
            else ["facts", "default", "space_defaults", *sections, "variants"]
        )
    if path[0] == "variants":
        return ["extends", *sections] if len(path) == 2 else _order(path[2:], present)
    if path == ("algo",):
        return [name for config in CONFIGS.values() for name in fields_at(config, path)]
    return fields_at(model, path)


def _sorted(names: list[str], order: list[str]) -> list[str]:
    """Known names in their order, then the others as they were."""
    known = sorted((n for n in names if n in order), key=order.index)
    return known + [n for n in names if n not in order]
