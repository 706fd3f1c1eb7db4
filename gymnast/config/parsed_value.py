"""Base class of config values with their own text notation, such as schedules and cadences."""

from __future__ import annotations

from typing import Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from gymnast.config.plain_value import PlainValue


class ParsedValue:
    """A config value that `parse` reads (or raises ValueError) and `to_plain` returns in the form that is
    stored."""

    @classmethod
    def parse(cls, value: object) -> Self:
        raise NotImplementedError

    def to_plain(self) -> PlainValue:
        return str(self)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse, serialization=core_schema.plain_serializer_function_ser_schema(cls.to_plain)
        )
