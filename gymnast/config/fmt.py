"""Formats config files: keys in the order of the schema, comments kept with their keys (`gymnast config
fmt`).

The formatter moves lines and never rewrites values. An entry consists of the lines of its key and the
comments directly above, and moves as a whole. Comments after the last key of a section, or of the file,
stay at its end.
"""

from __future__ import annotations

from collections.abc import Collection

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node

from gymnast.config.config import CONFIGS
from gymnast.config.problems import InvalidConfig, Key, Problem, fields_at
from gymnast.config.serialize import is_run_config
from gymnast.config.source import Source


def format_config(text: str, at: str = "") -> str:
    """Returns the text with its entries in canonical order. `at` is the file name for error messages. Raises
    InvalidConfig for duplicate keys, and if reordering would change a value."""
    source = Source.parse(text, at)
    if source.duplicate_keys:
        raise InvalidConfig(source.duplicate_keys)
    root = YAML(typ="safe", pure=True).compose(text)
    if not isinstance(root, MappingNode) or root.flow_style:
        return text
    # 1. Split the file into its header comment and one entry per key, sorted recursively.
    lines = [line.rstrip(" \t\r") for line in text.rstrip("\n").split("\n")]
    head = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    *sections, last, tail = _entries(root, (), lines, head, len(lines))
    below = _tail(last, len(last), 0)  # trailing comments of the section that is last after sorting
    parts = (*sections, last[:below], [*last[below:], *tail])
    entries = [_trimmed(part) for part in parts if any(part)]
    # 2. Join them. Sections of a preset are separated by an empty line; those of a run's config are not.
    gap = "\n" if is_run_config(source.data) else "\n\n"
    body = gap.join("\n".join(entry) for entry in entries)
    apart = [""] if head and not lines[head] else []
    formatted = "\n".join([*lines[:head], *apart, body, ""])
    # 3. Moving lines can change the meaning, e.g. of an anchor that is now used before it is defined.
    if not _reads_as(formatted, source.data):
        text = "cannot be reordered without changing its values (does it use an anchor?)"
        raise InvalidConfig([Problem(at, "", text)])
    return formatted


def _reads_as(text: str, data: object) -> bool:
    """True if the text parses to this data."""
    try:
        return Source.parse(text).data == data
    except InvalidConfig:
        return False


def _entries(
    node: MappingNode, path: Key, lines: list[str], start: int, end: int
) -> list[list[str]]:
    """Returns the lines of each entry of a block mapping, in canonical order, and last its trailing comments.
    `start` and `end` are the range of lines of the mapping."""
    keys = [key for key, _ in node.value]
    tail = _tail(lines, end, keys[-1].start_mark.column)
    # Entry i consists of the lines first[i] .. first[i + 1]; its own key is at line `body` - 1.
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
    """Returns the lines `start` to `end` of the value of one key, with the entries of a block mapping in
    canonical order. A scalar, a list and a `{...}` mapping keep their lines. `path`: path of the key."""
    if not isinstance(node, MappingNode) or node.flow_style or not node.value:
        return lines[start:end]
    ordered: list[str] = []
    for entry in _entries(node, path, lines, start, end):
        follows_comment = bool(ordered) and ordered[-1].lstrip().startswith("#")
        # An empty line keeps a comment at the end of one entry from becoming a comment above the next key.
        apart = [""] if follows_comment and entry and entry[0] else []
        ordered += [*apart, *entry]
    while not ordered[0]:
        del ordered[0]
    return ordered


def _tail(lines: list[str], end: int, column: int) -> int:
    """Returns the line at which the trailing comments of a mapping start, searching upward from `end`, the
    line after the mapping. `column` is that of its keys; a comment that is indented further belongs to the
    last entry."""
    while not (text := lines[end - 1].lstrip()) or (
        text.startswith("#") and lines[end - 1].index("#") <= column
    ):
        end -= 1
    return end


def _first_line(key: Node, lines: list[str]) -> int:
    """Returns the first line of an entry, including the comments and empty lines directly above its key."""
    first, indent = key.start_mark.line, " " * key.start_mark.column
    # Only comments indented like the key belong to it; a deeper one ends the entry above.
    while lines[first - 1].startswith(f"{indent}#"):
        first -= 1
    while not lines[first - 1]:
        first -= 1
    return first


def _trimmed(entry: list[str]) -> list[str]:
    """Removes empty lines around an entry, and all but one of several in a row inside it."""
    kept = [line for i, line in enumerate(entry) if line or (i and entry[i - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return kept[1:] if kept and not kept[0] else kept


def _order(path: Key, present: Collection[str]) -> list[str]:
    """Returns the keys at this path of a preset or of a run's config, in canonical order. `present`: the keys
    that the file has at this path; at the top level, only the config of a run has `algo`."""
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
    if path == ("algo",):  # a preset does not say here which algorithm: the fields of all, in order
        return [name for config in CONFIGS.values() for name in fields_at(config, path)]
    return fields_at(model, path)


def _sorted(names: list[str], order: list[str]) -> list[str]:
    """Returns the known names in canonical order, then the others in their original order."""
    known = sorted((n for n in names if n in order), key=order.index)
    return known + [n for n in names if n not in order]
