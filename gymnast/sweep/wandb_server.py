"""A sweep on a W&B server, seen by an agent: its config, and the commands that the server sends.

The requests are those of the client that is installed, sent through its connection, so that address, API key,
proxies and certificates are the same as for the runs that report to W&B. `wandb` is imported when a server is
opened.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from gymnast.errors import GymnastError, UsageError
from gymnast.metrics.sinks.wandb import silent_wandb
from gymnast.metrics.tracking import require_packages

if TYPE_CHECKING:
    from wandb import Api

TIMEOUT = 20
"""Seconds after which a request has failed, unless WANDB_HTTP_TIMEOUT says so; the client repeats it until
then."""
_LOGIN = (
    "log in with `wandb login`, or set WANDB_API_KEY (and WANDB_BASE_URL for a server of your own)"
)
_HEARTBEAT = """
    mutation Heartbeat(
        $id: ID!,
        $metrics: JSONString,
        $runState: JSONString
    ) {
        agentHeartbeat(input: {
            id: $id,
            metrics: $metrics,
            runState: $runState
        }) {
            agent {
                id
            }
            commands
        }
    }
"""
"""The same as in the client, whose own function returns no commands if the request fails."""


class ServerError(GymnastError):
    """The W&B server did not answer, or refused a request."""

    code = "wandb"


class SweepDeleted(ServerError):
    """The sweep does not exist any more."""


@dataclass(frozen=True)
class SweepPath:
    """The name of a sweep: `entity/project/sweep`."""

    entity: str
    project: str
    sweep: str

    @classmethod
    def parse(cls, text: str) -> SweepPath:
        """Raises UsageError if it does not have three parts. The address of a sweep's page is accepted
        too."""
        parts = text.strip().rstrip("/").split("?")[0].split("/")
        if text.startswith(("http://", "https://")):  # https://wandb.ai/entity/project/sweeps/id
            parts = [part for part in parts[3:] if part != "sweeps"]
        if len(parts) != 3 or not all(parts):
            problem = f"{text!r} does not name a W&B sweep"
            raise UsageError(
                problem, fix="write it as ENTITY/PROJECT/SWEEP, as on the sweep's page"
            )
        return cls(*parts)

    def __str__(self) -> str:
        return f"{self.entity}/{self.project}/{self.sweep}"


@dataclass(frozen=True)
class Command:
    """A command of the server to an agent."""

    type: str
    """run, resume, stop or exit."""
    run_id: str = ""
    """Id of the run in W&B; empty for exit."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The values that the sweep chose, as the server wrote them; keys are dotted or nested."""
    program: str = ""
    """The program of the sweep's config."""

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> Command:
        """Raises ServerError for a command that the client would not understand either."""
        arguments = answer.get("args") or {}
        try:
            settings = {str(key): value["value"] for key, value in arguments.items()}
        except (AttributeError, KeyError, TypeError):
            problem = f"the W&B server sent a command whose arguments have no values: {answer}"
            raise ServerError(problem) from None
        return cls(
            str(answer.get("type")),
            str(answer.get("run_id") or ""),
            settings,
            str(answer.get("program") or ""),
        )


class WandbSweep:
    """A sweep that this process is an agent of."""

    def __init__(self, path: SweepPath) -> None:
        """Connects to the server. Raises UsageError without the package `wandb` or without a login, and
        ServerError if the server does not answer or does not have the sweep."""
        require_packages(["wandb"])
        self.path = path
        self._agent = ""
        with silent_wandb(offline=False):
            self._api = _connect()
            self.config = self._read_config()
        # The variable names the process of wandb that belongs to this one. A run that inherited it would lose
        # its tracker when the agent ends.
        from wandb import env

        os.environ.pop(env.SERVICE, None)

    def register(self) -> None:
        """Registers this process as an agent of the sweep."""
        from wandb.apis.public.sweeps import (
            _register_agent,  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType] (the client has no public function)
        )
        from wandb.errors import Error

        where = {"entity": self.path.entity, "project": self.path.project}
        try:
            agent = _register_agent(
                self._api, socket.gethostname(), sweep_id=self.path.sweep, **where
            )
            self._agent = str(agent["id"])  # pyright: ignore[reportUnknownArgumentType]
        except Error as error:
            self._explain(error)

    def heartbeat(self, running: Collection[str]) -> list[Command]:
        """Reports to the server which of its runs train here, and returns its commands. Raises SweepDeleted,
        ServerError if it does not answer, and GymnastError if the process of wandb has ended."""
        from wandb.sdk.lib.service.service_connection import WandbApiFailedError
        from wandb.sdk.mailbox import MailboxClosedError

        variables = {
            "id": self._agent,
            "metrics": json.dumps({}),
            "runState": json.dumps(dict.fromkeys(running, True)),
        }
        try:
            answer = self._api._service_api.execute_graphql(  # pyright: ignore[reportPrivateUsage] (the only way to send a request of our own)
                _HEARTBEAT, variables=variables, timeout=_timeout()
            )
        except WandbApiFailedError as error:
            self._explain(error)
        except (MailboxClosedError, ConnectionError) as error:
            problem = "the process of wandb that connects this agent to the server has ended"
            raise GymnastError(problem, fix="start the agent again") from error
        commands = json.loads(answer["agentHeartbeat"]["commands"] or "[]")
        return [Command.from_answer(command) for command in commands]

    def _read_config(self) -> Mapping[str, Any]:
        """Returns the config of the sweep: method, metric, parameters and more."""
        from wandb.errors import Error

        try:
            config = self._api.sweep(str(self.path)).config
        except Error as error:
            if "Could not find sweep" in str(error):
                self._not_found()
            self._explain(error)
        return config or {}

    def _explain(self, error: Exception) -> NoReturn:
        """Raises the error that says what a failure of the client means."""
        cause = getattr(error, "exc", None) or error
        status = getattr(getattr(cause, "response", None), "http_status", None)
        if status == 404:
            self._not_found()
        raise _failure(self._api.settings["base_url"], status, str(error)) from error

    def _not_found(self) -> NoReturn:
        problem = f"the W&B server has no sweep {self.path}"
        fix = "compare the name with the sweep's page; a deleted sweep cannot be continued"
        raise SweepDeleted(problem, at=self._api.settings["base_url"], fix=fix) from None


def _connect() -> Api:
    """Returns a connection of the installed client, whose login the server has accepted."""
    import wandb
    from wandb.errors import AuthenticationError
    from wandb.errors import UsageError as WandbUsageError

    # It logs failures with a traceback; they are explained here instead.
    logging.getLogger("wandb").setLevel(logging.CRITICAL)
    address = wandb.setup().settings.base_url
    try:
        return wandb.Api(timeout=_timeout())
    except WandbUsageError as error:
        raise UsageError(f"there is no login for W&B: {error}", at=address, fix=_LOGIN) from error
    except AuthenticationError as error:
        status = getattr(getattr(error.__cause__, "response", None), "http_status", None)
        raise _failure(address, status, str(error)) from error


def _failure(address: str, status: int | None, text: str) -> GymnastError:
    """Returns the error for an HTTP status, or for no answer at all."""
    if status in (401, 403) or "credentials: the server did not" in text:
        return UsageError("the W&B server does not accept the API key", at=address, fix=_LOGIN)
    if status is None and "did not respond" in text:
        fix = "check WANDB_BASE_URL and the network"
        problem = f"the W&B server did not answer within {_timeout()} s"
        return ServerError(problem, at=address, fix=fix)
    return ServerError(f"the W&B server refused a request: {text}", at=address)


def _timeout() -> int:
    from wandb import env

    return env.get_http_timeout(TIMEOUT)
