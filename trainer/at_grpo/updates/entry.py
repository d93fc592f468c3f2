"""The first thing that another process of an update worker does, before any library looks for CUDA."""

import signal
import traceback
from multiprocessing.connection import Connection

from at_grpo.placement import confine
from at_grpo.updates.messages import Failure, WorkerPlan


def main(connection: Connection, plan: WorkerPlan) -> None:
    """Train what the driver sends until it says that the run is over, or is gone itself."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they are for the driver, who finishes the iteration
        signal.signal(number, signal.SIG_IGN)
    confine(plan.gpu)
    from at_grpo.updates.worker import UpdateWorker

    try:
        UpdateWorker(connection, plan).run()
    except Exception as error:  # noqa: BLE001  # the boundary of the process: the driver gets it, whatever it is
        reason = "".join(traceback.format_exception(error))
        connection.send(Failure(f"{type(error).__name__}: {error}", reason))
        raise SystemExit(1) from None
