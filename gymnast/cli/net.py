"""`gymnast net`: shows a network layer by layer, with activations and gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.processes.env_output import separate_env_output
from gymnast.text import formatting


@click.command()
@click.argument("target", metavar="ENV[:VARIANT]|RUN[:CHECKPOINT]")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
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
    with separate_env_output():
        report = _report(target, assignments, runs_dir)
    if as_json:
        echo_json(report)
    else:
        click.echo("\n".join(_page(report)))


def _report(target: str, assignments: Sequence[str], runs_dir: str | None) -> dict[str, Any]:
    """Returns the report of a network and its title (`target`); `fresh` is True if the network is
    newly initialized, i.e. if the target is an environment.

    `assignments`: KEY=VALUE overrides; raises UsageError if there are any and the target is a
    run."""
    from gymnast.config.resolve import parse_assignment
    from gymnast.evaluation.rescore import find_checkpoint
    from gymnast.inspect.network import network_report
    from gymnast.runs import store
    from gymnast.training.collectors import open_collector
    from gymnast.training.lifecycle.prepare import prepare

    run = store.find_run(target, store.runs_dir(runs_dir))
    if run is None:
        prepared = prepare(target, dict(map(parse_assignment, assignments)))
        name, cfg, saved = prepared.resolved.preset, prepared.resolved.config, None
        collector = prepared.collector
    elif assignments:
        fix = "omit --set, or name an environment"
        raise UsageError(f"{target} is a run, and the network of a run cannot be changed", fix=fix)
    else:
        run, saved = find_checkpoint(target, runs_dir)
        cfg = run.config()
        name, collector = f"{run.id}, checkpoint {saved.step:,}", open_collector(cfg)
    try:
        report = network_report(cfg, collector, saved, store.runs_dir(runs_dir))
        return {"target": name, "fresh": saved is None, **report}
    finally:
        collector.close()


def _page(report: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of the page: size, initial policy, table of layers and table of parameters,
    for each role."""
    steps, n_envs = (report["batch"][key] for key in ("env_steps", "n_envs"))
    envs = formatting.count_noun(n_envs, "environment")
    yield f"{report['target']}, on a batch of {steps:,} steps in {envs}"
    for role, about in report["roles"].items():
        yield from ([] if len(report["roles"]) == 1 else ["", role])
        total = about["total"]
        yield f"{total['parameters']:,} parameters, {formatting.size(total['bytes'])}"
        yield _start(about["start"], fresh=report["fresh"])
        yield ""
        yield _layers(about["layers"])
        yield ""
        yield _parameters(about["parameters"])
        if not about["has_gradient"]:
            yield "no gradients: the algorithm does not update on a batch of this size"


def _start(start: Mapping[str, Any], *, fresh: bool) -> str:
    """Returns a line about how uniform the policy is on the first observations of episodes
    (`start`: the result of `uniformity_report`). Only an untrained (`fresh`) policy is judged."""
    verdict = {True: "uniform", False: "NOT uniform", None: "no range to compare with"}
    end = f" ({verdict[start['uniform']]})" if fresh else ""
    title = "initial policy" if fresh else "policy on first observations"
    about: list[str] = []
    if "entropy" in start:
        choices = math.exp(start["of"])
        maximum = f"ln {choices:.0f} = {start['of']:.4f}"
        about.append(f"entropy {start['entropy']:.4f} of {maximum}")
    if "off_center" in start:
        off = start["off_center"]
        center = (
            "continuous" if off is None else f"mean at most {off:.2%} of the range off its center"
        )
        about.append(center)
    return f"{title}: {', '.join(about)}{end}"


def _layers(layers: Sequence[Mapping[str, Any]]) -> str:
    """Returns the table of layers: shapes, size, and statistics of the activations. An empty cell
    means that the layer has no parameters, or that `dead` or `saturated` is not defined for its
    kind."""
    head = ("layer", "kind", "in", "out", "parameters", "size", "mean", "std", "dead", "saturated")
    lines = [
        (
            layer["name"],
            layer["kind"],
            _shape(layer["input"]),
            _shape(layer["output"]),
            formatting.count(layer["parameters"]) if layer["parameters"] else "",
            formatting.size(layer["bytes"]) if layer["parameters"] else "",
            f"{layer['mean']:.3f}",
            f"{layer['std']:.3f}",
            *("" if layer[k] is None else f"{layer[k]:.1%}" for k in ("dead", "saturated")),
        )
        for layer in layers
    ]
    return formatting.table(head, lines, right="in out parameters size mean std dead saturated")


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> str:
    """Returns the table of parameters with the norm of each, and the norm and the largest absolute
    element of its gradient (empty without a gradient)."""
    head = ("parameter", "shape", "norm", "gradient", "largest")
    lines = [
        (
            parameter["name"],
            _shape([parameter["shape"]]),
            f"{parameter['norm']:.4g}",
            *(
                "" if parameter[k] is None else f"{parameter[k]:.3g}"
                for k in ("gradient_norm", "gradient_max")
            ),
        )
        for parameter in parameters
    ]
    return formatting.table(head, lines, right="shape norm gradient largest")


def _shape(shapes: Sequence[Sequence[int]]) -> str:
    """Returns e.g. `64`, `84x84x4`, `index` for a scalar, or `2 + 84x84x4` for several arrays."""
    return " + ".join("x".join(map(str, shape)) or "index" for shape in shapes)
