"""`gymnast runs`, `show` and `rows`: list and read runs."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.housekeeping import note, prune, rm, tag
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.text.plain import plain_text


class RunsGroup(click.Group):
    """Treats words that are not a subcommand as filters of the list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `gymnast runs CartPole` means `gymnast runs list CartPole`.
        known = {*self.commands, *self.get_help_option_names(ctx)}
        return super().parse_args(ctx, args if args and args[0] in known else ["list", *args])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.commands["list"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=RunsGroup, subcommand_metavar="[FILTER]... | COMMAND")
def runs() -> None:
    """List runs, newest first; delete, tag or annotate them.

    FILTER is text to search for in id, name, preset, status, group and tags, or FIELD=VALUE with the
    field id, name, preset, env, variant, algo, status, seed, group, tag or solved, or FIELD>NUMBER (also >=,
    < and <=) with the field score, best_score, area, progress, env_steps, seconds, alerts or seed. A run must
    match all filters.

    \b
    gymnast runs
    gymnast runs CartPole solved=yes
    gymnast runs 'score>200' 'env_steps<=1M'
    gymnast runs status=lost --json
    gymnast runs --sizes --limit 20
    gymnast runs prune --status failed,lost --dry-run
    """


@runs.command("list", hidden=True)
@click.argument("words", nargs=-1, metavar="[FILTER]...")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N runs.")
@click.option(
    "--after", metavar="CURSOR", help="Only the runs after this `cursor` of an earlier --json."
)
@click.option("--sizes", is_flag=True, help="Also show the disk space of each run.")
@runs_option
@json_option
def list_(
    words: tuple[str, ...],
    limit: int | None,
    after: str | None,
    sizes: bool,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """List runs, newest first."""
    page = api.runs(" ".join(words), after=after, limit=limit, sizes=sizes, runs_dir=runs_dir)
    if as_json:
        echo_json(page)
    elif page.runs:
        from gymnast.insight.page import runs_table

        click.echo(runs_table(page.runs))
        if page.cursor is not None:
            click.echo(f"{len(page.runs)} of {page.total} runs")
    else:
        condition = f" that match {' '.join(words)!r}" if words else ""
        click.echo(f"no runs{condition} in {page.directory}")


for _command in (rm, prune, tag, note):
    runs.add_command(_command)


@click.command()
@click.argument("run", default="@last")
@click.option(
    "--verify", is_flag=True, help="Compare the files of the checkpoints with their hashes."
)
@click.option("--sizes", is_flag=True, help="Also show the disk space of the run.")
@click.option(
    "--file", metavar="NAME", help="Print this text file of the run instead, e.g. config.yaml."
)
@runs_option
@json_option
def show(
    run: str, verify: bool, sizes: bool, file: str | None, runs_dir: str | None, as_json: bool
) -> None:
    """Show everything about one run: status, score, settings, checkpoints, alerts, events.

    RUN is an id, a unique prefix of one, a name, a path, @last, @best or @best:ENV, or the file of a bundle.

    \b
    gymnast show                       the newest run
    gymnast show @best:CartPole-v1
    gymnast show k3jx:best --json      with that checkpoint's path and hash
    gymnast show k3jx-bundle.zip       a bundle that somebody sent you (`gymnast bundle`)
    gymnast show @last --file config.yaml
    """
    if file is not None:
        found = api.run_file(run, file, runs_dir=runs_dir)
        if as_json:
            echo_json(found)
        else:
            click.echo(plain_text(found.text), nl=False)
        return
    details = api.show(run, verify=verify, sizes=sizes, runs_dir=runs_dir)
    if as_json:
        echo_json(details)
    else:
        from gymnast.insight.page import run_page

        click.echo(plain_text(run_page(details)))  # a bundle may come from anybody


@click.command()
@click.argument("run")
@click.option("--csv", "output", flag_value="csv", default="csv", help="Print CSV (the default).")
@click.option("--json", "output", flag_value="json", help="Print JSON: `rows`, and a `cursor`.")
@click.option(
    "--metric", "names", multiple=True, metavar="NAME", help="Only this metric and the clocks."
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the latest N rows.")
@click.option(
    "--after",
    type=click.IntRange(min=0),
    default=0,
    metavar="CURSOR",
    help="Only the rows after this `cursor` of an earlier --json.",
)
@click.option("--around", metavar="ENV_STEPS", help="Only the rows around this step, such as 120k.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N rows; with --around, 10 by default.",
)
@runs_option
def rows(
    run: str,
    output: str,
    names: tuple[str, ...],
    last: int | None,
    after: int,
    around: str | None,
    limit: int | None,
    runs_dir: str | None,
) -> None:
    """Print the metrics of a run, one row per rollout, at full precision.

    \b
    gymnast rows @last > rows.csv
    gymnast rows @last --metric policy/entropy --metric eval:episode/return --last 10
    gymnast rows @last --around 120k --limit 5 --metric policy/kl
    gymnast rows k3jx81qa --json
    """
    if output == "json":
        page = api.rows(
            run, names, last=last, after=after, limit=limit, around=around, runs_dir=runs_dir
        )
        echo_json(page)
    elif after:
        raise UsageError("--after needs --json, which prints the cursor")
    else:
        text = api.rows_csv(run, names, last=last, limit=limit, around=around, runs_dir=runs_dir)
        click.echo(text, nl=False)
