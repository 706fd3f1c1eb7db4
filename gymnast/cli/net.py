"""`gymnast net`: shows a network layer by layer, with activations and gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import (
    allow_code_option,
    echo_json,
    json_option,
    parse_assignments,
    runs_option,
)
from gymnast.cli.tasks import wait_for
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.network_report.record import (
        LayerReport,
        NetworkReport,
        ParameterReport,
        UniformityReport,
    )


@click.command()
@click.argument("target", metavar="ENV[:VARIANT]|RUN[:CHECKPOINT]")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
@allow_code_option
@json_option
def net(target: str, assignments: tuple[str, ...], runs_dir: str | None, as_json: bool) -> None:
    """Show a network layer by layer: shapes, parameters, and activations and gradients on a real batch.

    The batch is a short rollout of the policy: a newly initialized one for an environment, the stored
    one for a run (by default its best checkpoint, or the latest if there is no best one yet). Gradients
    are those of the algorithm's own loss. If several roles are learned, each has its own network.

    \b
    gymnast net CartPole-v1
    gymnast net LunarLander-v3:continuous --set policy.hidden=[256,256]
    gymnast net @last:latest --json
    """
    task = api.net(target, overrides=parse_assignments(assignments), runs_dir=runs_dir)
    report = wait_for(task)
    if as_json:
        echo_json(report)
    else:
        click.echo("\n".join(_page(report)))


def _page(report: NetworkReport) -> Iterator[str]:
    """Yields the lines of the page: size, initial policy, table of layers and table of parameters,
    for each role."""
    envs = formatting.count_noun(report.n_envs, "environment")
    yield f"{report.target}, on a batch of {report.env_steps:,} steps in {envs}"
    for role, about in report.roles.items():
        yield from ([] if len(report.roles) == 1 else ["", role])
        yield f"{about.n_parameters:,} parameters, {formatting.size(about.bytes)}"
        yield _start(about.start, fresh=report.fresh)
        yield ""
        yield _layers(about.layers)
        yield ""
        yield _parameters(about.parameters)
        if not about.has_gradient:
            yield "no gradients: the algorithm does not update on a batch of this size"


def _start(start: UniformityReport, *, fresh: bool) -> str:
    """Returns a line about how uniform the policy is on the first observations of episodes. Only an
    untrained (`fresh`) policy is judged."""
    verdict = {True: "uniform", False: "NOT uniform", None: "no range to compare with"}
    end = f" ({verdict[start.uniform]})" if fresh else ""
    title = "initial policy" if fresh else "policy on first observations"
    about: list[str] = []
    if start.max_entropy is not None:
        choices = math.exp(start.max_entropy)
        maximum = f"ln {choices:.0f} = {start.max_entropy:.4f}"
        about.append(f"entropy {start.entropy:.4f} of {maximum}")
    if start.off_center is not None:
        about.append(f"mean at most {start.off_center:.2%} of the range off its center")
    return f"{title}: {', '.join(about) or 'continuous'}{end}"


def _layers(layers: Sequence[LayerReport]) -> str:
    """Returns the table of layers: shapes, size, and statistics of the activations. An empty cell
    means that the layer has no parameters, or that `dead` or `saturated` is not defined for its
    kind."""
    head = ("layer", "kind", "in", "out", "parameters", "size", "mean", "std", "dead", "saturated")
    lines = [
        (
            layer.name,
            layer.kind,
            _shape(layer.input),
            _shape(layer.output),
            formatting.count(layer.parameters) if layer.parameters else "",
            formatting.size(layer.bytes) if layer.parameters else "",
            f"{layer.mean:.3f}",
            f"{layer.std:.3f}",
            *("" if share is None else f"{share:.1%}" for share in (layer.dead, layer.saturated)),
        )
        for layer in layers
    ]
    return formatting.table(head, lines, right="in out parameters size mean std dead saturated")


def _parameters(parameters: Sequence[ParameterReport]) -> str:
    """Returns the table of parameters with the norm of each, and the norm and the largest absolute
    element of its gradient (empty without a gradient)."""
    head = ("parameter", "shape", "norm", "gradient", "largest")
    lines = [
        (
            parameter.name,
            _shape(parameter.shape),
            f"{parameter.norm:.4g}",
            *(
                "" if value is None else f"{value:.3g}"
                for value in (parameter.gradient_norm, parameter.gradient_max)
            ),
        )
        for parameter in parameters
    ]
    return formatting.table(head, lines, right="shape norm gradient largest")


def _shape(shape: Sequence[int]) -> str:
    """Returns e.g. `64`, `84x84x4`, or `index` for a scalar."""
    return "x".join(map(str, shape)) or "index"
