"""JSON schemas of records, with their definitions collected for an OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.records import json_schema

Json = dict[str, object]
SCHEMAS = "#/components/schemas/"
"""Place of the collected schemas in the document."""


def schema_of(kind: type[object], schemas: Json) -> Json:
    """Returns a reference to the schema of a record."""
    if kind.__name__ not in schemas:
        schemas[kind.__name__] = collected(json_schema(kind), schemas)
    return {"$ref": f"{SCHEMAS}{kind.__name__}"}


def collected(schema: Mapping[str, object], schemas: Json) -> Json:
    """Returns a schema whose definitions were moved to `schemas`. Raises ValueError if two different records
    have the same name."""
    definitions = schema.get("$defs", {})
    assert isinstance(definitions, dict)
    for name, definition in definitions.items():
        moved = _moved(definition)
        if schemas.setdefault(name, moved) != moved:
            raise ValueError(f"two different records are called {name}")
    moved = _moved({key: value for key, value in schema.items() if key != "$defs"})
    assert isinstance(moved, dict)
    return moved


def _moved(schema: object) -> object:
    """Returns a schema whose references point to the components of the document."""
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", SCHEMAS)
            if key == "$ref" and isinstance(value, str)
            else _moved(value)
            for key, value in schema.items()
        }
    return [_moved(item) for item in schema] if isinstance(schema, list) else schema
