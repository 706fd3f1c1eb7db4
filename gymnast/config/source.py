"""Reads YAML into plain data and remembers the line of every key, for error messages.

This is YAML 1.2: `1e-3` is a number, and `on`, `off`, `yes` and `no` are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gymnast.config.plain_value import PlainValue, Scalar
from gymnast.config.problems import InvalidConfig, Key, Problem, dotted_key

MAX_NODES, MAX_DEPTH = 100_000, 100
"""Limits for a file: its aliases (`*name`) may repeat or contain each other, so that a few lines could stand
for billions of values."""

MAX_DIGITS = 100
"""A whole number with more digits is text: no setting accepts it, and no float is as large."""


@dataclass(frozen=True)
class Source:
    name: str
    """File name for messages; empty for text that is not from a file."""
    data: PlainValue
    lines: Mapping[Key, int] = field(default_factory=dict[Key, int])
    """Path of a key -> line, counted from 1."""
    duplicate_keys: tuple[Problem, ...] = ()
    """Keys that appear twice."""

    @classmethod
    def parse(cls, text: str, name: str = "") -> Source:
        """Returns the data of a YAML text; an empty text is `{}`. `name`: file name for messages. Raises
        InvalidConfig if the text is not YAML. Duplicate keys do not raise: the last value is used and
        `duplicate_keys` lists them."""
        try:
            root = YAML(typ="safe", pure=True).compose(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark
            at = _place(name, mark.line + 1) if mark else name
            raise InvalidConfig([Problem(at, "", f"is not YAML: {error.problem}")]) from None
        except YAMLError as error:
            first_line = str(error).strip().splitlines()[0]
            raise InvalidConfig([Problem(name, "", f"is not YAML: {first_line}")]) from None
        except RecursionError:
            raise InvalidConfig([Problem(name, "", "is nested too deeply")]) from None
        reader = _Reader(name)
        data = reader.data(root, ()) if root is not None else {}
        return cls(name, data, reader.lines, tuple(reader.duplicates))

    def location(self, path: Key) -> str:
        """Returns `file:line` of the key, or of the nearest key above it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return _place(self.name, self.lines[path[:end]])
        return self.name


class _Reader:
    """Converts composed YAML nodes to plain data, and stores the line of every key in `lines`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes = 0
        self.lines: dict[Key, int] = {}
        self.duplicates: list[Problem] = []

    def data(self, node: Node, path: Key) -> PlainValue:
        """Returns a node as plain data: a dict, a list or a scalar. `path`: path of the node within the
        file."""
        self.nodes += 1
        if self.nodes > MAX_NODES or len(path) > MAX_DEPTH:
            what = "has too many values, or refers to itself"
            raise InvalidConfig([Problem(self.name, "", what)])
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            for i, item in enumerate(node.value):
                self.lines[(*path, i)] = item.start_mark.line + 1
            return [self.data(item, (*path, i)) for i, item in enumerate(node.value)]
        return _scalar(node)

    def _mapping(self, node: MappingNode, path: Key) -> dict[Scalar, PlainValue]:
        """Returns a mapping node as a dict, stores the line of each key, and reports keys that appear
        twice."""
        mapping: dict[Scalar, PlainValue] = {}
        for key_node, value_node in node.value:
            key, line = _scalar(key_node), key_node.start_mark.line + 1
            inner = (*path, key)
            if key in mapping:
                first = self.lines[inner]
                at = _place(self.name, line)
                self.duplicates.append(
                    Problem(at, dotted_key(inner), f"is given twice (line {first})")
                )
            self.lines[inner] = line
            mapping[key] = self.data(value_node, inner)
        return mapping


def _place(name: str, line: int) -> str:
    return f"{name}:{line}" if name else f"line {line}"


def _scalar(node: Node) -> Scalar:
    """Returns the value of a scalar node: None, a bool, an int, a float or text. A key that is a list or a
    mapping is returned as text."""
    if not isinstance(node, ScalarNode):
        return str(node.value)
    kind, text = str(node.tag).rsplit(":", 1)[-1], node.value
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "int":
        digits = text.replace("_", "")
        if len(digits) > MAX_DIGITS:
            return text
        # int(..., 0) reads 0x and 0o, but rejects leading zeros such as 007.
        return int(digits) if digits.lstrip("+-").isdigit() else int(digits, 0)
    if kind == "float":
        return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
    return text
