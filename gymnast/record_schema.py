"""The JSON schema of records, as `gymnast.records.to_json` writes them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import TYPE_CHECKING

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

if TYPE_CHECKING:
    from pydantic_core import core_schema

NOT_FINITE = ["nan", "inf", "-inf"]
"""Texts that stand for the floats that JSON does not have."""


class RecordSchema(GenerateJsonSchema):
    """Describes the fields of dataclasses by the docstrings below them, and floats as numbers or one of the
    texts of NOT_FINITE."""

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {"anyOf": [super().float_schema(schema), {"enum": NOT_FINITE}]}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        described = super().dataclass_schema(schema)
        for name, text in field_docstrings(schema["cls"]).items():
            if name in described.get("properties", {}):
                described["properties"][name]["description"] = text
        return described


@cache
def field_docstrings(kind: type[object]) -> dict[str, str]:
    """Returns field -> the docstring below it, for the fields of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        tree = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(tree, ast.ClassDef)
        for statement, following in zip(tree.body, tree.body[1:], strict=False):
            if not (isinstance(statement, ast.AnnAssign) and isinstance(following, ast.Expr)):
                continue
            if isinstance(statement.target, ast.Name) and isinstance(following.value, ast.Constant):
                found[statement.target.id] = inspect.cleandoc(str(following.value.value))
    return found
