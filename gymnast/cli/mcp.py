"""`gymnast mcp`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gymnast import api
from gymnast.cli.options import allow_host_option, host_option, runs_option
from gymnast.import_object import allow_all_code

MAX_MINUTES = 60.0


@click.command()
@click.option("--http", is_flag=True, help="Serve HTTP instead of standard input and output.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Port for --http. Default: 8766, or the next one that is free.",
)
@host_option
@allow_host_option
@click.option(
    "--max-jobs",
    type=click.IntRange(1, 1000),
    help="Jobs that train at once. Default: GYMNAST_JOBS, or one per core.",
)
@click.option(
    "--max-minutes",
    type=click.FloatRange(0, min_open=True),
    default=MAX_MINUTES,
    show_default=True,
    help="Wall time of training that one call may start or allow.",
)
@click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
@click.option(
    "--allow-code",
    is_flag=True,
    help="Allow `py:` environments and `policy.module`: Python code named in configs.",
)
@click.option(
    "--text",
    is_flag=True,
    help="Answer with JSON as text, for clients that do not show structured content to the model.",
)
@runs_option
def mcp(
    http: bool,
    port: int | None,
    host: str,
    allowed_hosts: tuple[str, ...],
    max_jobs: int | None,
    max_minutes: float,
    read_only: bool,
    allow_code: bool,
    text: bool,
    runs_dir: str | None,
) -> None:
    """Offer runs and trainings to assistants (Model Context Protocol).

    Without --http, a client starts this command and talks to it over standard input and output. Trainings
    that an assistant starts have the tag `assistant`, and continue when the server ends.

    \b
    claude mcp add gymnast -- gymnast mcp
    gymnast mcp --runs /data/runs --max-jobs 2 --max-minutes 30
    gymnast mcp --read-only
    gymnast mcp --http                    prints the address and the token
    """
    from gymnast.mcp.options import PORT, McpOptions

    if allow_code:
        allow_all_code()  # also in the trainings and tasks that it starts
    options = McpOptions(
        runs_dir=Path(api.runs(limit=0, runs_dir=runs_dir).directory),
        host=host,
        port=port or PORT,
        allowed_hosts=allowed_hosts,
        read_only=read_only,
        allow_code=allow_code,
        max_jobs=max_jobs,
        max_minutes=max_minutes,
        text=text,
    )
    if http:
        from gymnast.mcp.http_server import serve_http

        serve_http(options, click.echo, any_port=port is None)
        return
    from gymnast.mcp.stdio_server import serve_stdio

    if sys.stdin.isatty():
        click.echo("waiting for a client on standard input; Ctrl-C ends it", err=True)
    serve_stdio(options)
