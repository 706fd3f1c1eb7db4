"""`gymnast studio`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from gymnast import api
from gymnast.cli.options import allow_host_option, host_option, runs_option
from gymnast.import_object import allow_all_code

PORT = 8765


@click.command()
@click.argument("run", required=False)
@click.option("--open", "open_browser", is_flag=True, help="Open it in the browser.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"Port to listen on. Default: {PORT}, or the next one that is free.",
)
@host_option
@allow_host_option
@click.option("--prefix", default="/", help="Serve everything below this path, e.g. /studio/.")
@click.option("--read-only", is_flag=True, help="Refuse everything that changes something.")
@click.option(
    "--allow-code",
    is_flag=True,
    help="Allow pages to start `py:` environments and `policy.module`: Python code named in configs.",
)
@runs_option
def studio(
    run: str | None,
    open_browser: bool,
    port: int | None,
    host: str,
    allowed_hosts: tuple[str, ...],
    prefix: str,
    read_only: bool,
    allow_code: bool,
    runs_dir: str | None,
) -> None:
    """Watch, compare and control runs in the browser.

    Prints a link and serves until Ctrl-C. The link signs in one browser, which stays signed in, also after
    the studio was restarted; another link is printed for the next browser. With RUN, the link leads to the
    page of that run.

    \b
    gymnast studio                        the runs in ./runs
    gymnast studio @last --open
    gymnast studio --runs /data/runs --read-only
    ssh -L 9000:localhost:8765 MACHINE    then open the link with port 9000
    """
    from gymnast.studio.options import StudioOptions, prefix_path
    from gymnast.studio.server import serve

    page = f"run/{api.show(run, runs_dir=runs_dir).id}" if run is not None else ""
    if allow_code:
        allow_all_code()  # also in the trainings and tasks that it starts
    options = StudioOptions(
        runs_dir=Path(api.runs(limit=0, runs_dir=runs_dir).directory),
        host=host,
        port=PORT if port is None else port,
        allowed_hosts=allowed_hosts,
        prefix=prefix_path(prefix),
        read_only=read_only,
        allow_code=allow_code,
    )
    serve(options, click.echo, page=page, any_port=port is None, open_browser=open_browser)


def background_link(runs_dir: str | None) -> Callable[[str], str]:
    """Starts a studio in the background, unless one serves the runs directory already, and returns a function
    that returns a line with the link to a page."""
    from gymnast.studio.background import ensure_running

    directory = Path(api.runs(limit=0, runs_dir=runs_dir).directory)
    running = ensure_running(directory)
    return lambda page: f"studio: {running.link(page)}"
