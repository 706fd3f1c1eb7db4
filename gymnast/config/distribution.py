"""A probability distribution as one value: `uniform(-12, -4)`, `normal(1, 0.1)`, `choice(1, 2)`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymnast.config.numbers import format_number, parse_number, quote_value
from gymnast.config.parsed_value import ParsedValue

if TYPE_CHECKING:
    from statistics import NormalDist

    import numpy as np

_FORMS = {
    "uniform": "uniform(LOW, HIGH)",
    "loguniform": "loguniform(LOW, HIGH)",
    "normal": "normal(MEAN, DEVIATION) or normal(MEAN, DEVIATION, LOW, HIGH)",
    "choice": "choice(NUMBER, ...)",
}
_TEXT = re.compile(r"(?P<kind>[a-z_-]+)\s*\((?P<numbers>.*)\)")


@dataclass(frozen=True)
class Distribution(ParsedValue):
    kind: str
    parameters: tuple[float, ...]
    """Parameters, in the order of the text."""

    @classmethod
    def parse(cls, value: object) -> Distribution:
        """Parses the text of a distribution; a bare number is a constant."""
        if isinstance(value, Distribution):
            return value
        match = _TEXT.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            # A text that does not start like a number was meant as a distribution: list the forms.
            if isinstance(value, str) and not re.fullmatch(r"\s*[-+.\d]\S*\s*", value):
                raise ValueError(
                    f"{quote_value(value)} is not a distribution (expected {_any_form()})"
                )
            return cls("choice", (parse_number(value),))
        kind = match["kind"].replace("-", "").replace("_", "")
        if kind not in _FORMS:
            raise ValueError(f"{match['kind']} is not a distribution (expected {_any_form()})")
        parts = [part for part in match["numbers"].split(",") if part.strip()]
        return cls(kind, tuple(map(parse_number, parts)))

    def __post_init__(self) -> None:
        """Raises ValueError for a wrong number of parameters, reversed bounds, a scale that is not positive,
        or a normal distribution with almost no probability between its bounds."""
        n = self.parameters
        # The number of parameters, then their order: LOW < HIGH, a positive scale, a reachable range.
        enough = {"normal": len(n) in (2, 4), "choice": len(n) >= 1}.get(self.kind, len(n) == 2)
        if not enough:
            raise ValueError(f"`{self}` is incomplete (expected {_FORMS[self.kind]})")
        ends = n[2:] if self.kind == "normal" else n if self.kind != "choice" else ()
        if ends and not ends[0] < ends[1]:
            raise ValueError(f"`{self}` is reversed (expected {_FORMS[self.kind]})")
        if self.kind == "loguniform" and n[0] <= 0:
            raise ValueError(f"`{self}` must stay above 0 (expected {_FORMS[self.kind]})")
        if self.kind == "normal" and n[1] <= 0:
            raise ValueError(
                f"`{self}` needs a standard deviation above 0 (expected {_FORMS[self.kind]})"
            )
        if self.kind == "normal" and ends and self._share_within() < 1e-6:
            raise ValueError(f"`{self}` has almost no probability between its bounds")

    def sample(self, rng: np.random.Generator) -> float:
        """Returns one number drawn with the generator."""
        n = self.parameters
        match self.kind:
            case "uniform":
                return float(rng.uniform(n[0], n[1]))
            case "loguniform":
                return math.exp(float(rng.uniform(math.log(n[0]), math.log(n[1]))))
            case "choice":
                return n[int(rng.integers(len(n)))]
            case _:
                return self._draw_normal(rng)

    def bounds(self) -> tuple[float, float]:
        """Returns the lowest and the highest number that can be drawn; infinite for a normal distribution
        without bounds."""
        if self.kind == "choice":
            return min(self.parameters), max(self.parameters)
        if self.kind == "normal":
            low, high = self.parameters[2:] or (-math.inf, math.inf)
            return low, high
        return self.parameters[0], self.parameters[1]

    def _draw_normal(self, rng: np.random.Generator) -> float:
        """Returns one number of a normal distribution, truncated to the bounds if it has any."""
        mean, deviation = self.parameters[:2]
        low, high = self.bounds()
        if math.isinf(low):
            return float(rng.normal(mean, deviation))
        # Inverse transform sampling takes exactly one draw, however unlikely the truncated range is.
        normal = self._normal()
        share = float(rng.uniform(normal.cdf(low), normal.cdf(high)))
        # inv_cdf is undefined at 0 and 1, which a cdf far from the mean rounds to.
        drawn = normal.inv_cdf(min(max(share, 1e-300), 1 - 1e-16))
        return min(max(drawn, low), high)

    def _share_within(self) -> float:
        """Returns the probability that an untruncated draw falls between the bounds."""
        normal = self._normal()
        return normal.cdf(self.parameters[3]) - normal.cdf(self.parameters[2])

    def _normal(self) -> NormalDist:
        from statistics import NormalDist  # slow to import, and few configs need it

        return NormalDist(*self.parameters[:2])

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(format_number, self.parameters))})"


def _any_form() -> str:
    return ", ".join(_FORMS.values())
