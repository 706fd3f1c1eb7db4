"""The evaluation process: reads a config and then jobs from its connection, answers with results.

It imports no torch. Its end of the connection is the file descriptor named on the command line;
when the other end closes, it ends too.
"""

from __future__ import annotations

import os
import time
import traceback
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle

from gymnast.config.config import Config
from gymnast.envs.backends import child
from gymnast.errors import EnvError, GymnastError
from gymnast.evaluation.jobs import ALIVE, ALIVE_SECONDS, AnyEvaluator, open_evaluator, run_job
from gymnast.evaluation.journal import Journal


class Heartbeat:
    """Sends a message with the progress every ALIVE_SECONDS; to be called at every step."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.last = connection, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self.last > ALIVE_SECONDS:
            self.last = time.monotonic()
            self.connection.send((ALIVE, done, total))


def try_open_evaluator(cfg: Config) -> AnyEvaluator | None:
    """Opens the environments before the first job arrives. A failure is ignored here: that job tries
    again and reports it."""
    try:
        return open_evaluator(cfg)
    except Exception:
        return None


def main() -> None:
    """Serves jobs until the trainer closes its end of the connection."""
    connection = Connection(child.setup())
    evaluator: AnyEvaluator | None = None
    try:
        cfg = connection.recv()
        # A descriptor instead of a name: the journal is an unnamed temporary file of the trainer.
        journal = os.fdopen(recv_handle(connection), "r+b")
        evaluator = try_open_evaluator(cfg)
        while True:
            job = connection.recv()
            try:
                evaluator = evaluator or open_evaluator(cfg)
                answer = run_job(evaluator, job, Heartbeat(connection), Journal(journal))
            except GymnastError as problem:
                traceback.print_exc()  # goes to the run's log.txt
                answer = type(problem)(f"evaluation: {problem.message}", fix=problem.fix)
            except Exception as problem:
                traceback.print_exc()
                answer = EnvError(f"evaluation failed with {type(problem).__name__}: {problem}")
            connection.send(answer)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the trainer has closed the connection, or was killed
    finally:
        if evaluator is not None:
            evaluator.close()  # an environment may have processes of its own


if __name__ == "__main__":
    main()
    # Skips the interpreter's own shutdown, which can take long with many modules: the trainer waits.
    os._exit(0)
