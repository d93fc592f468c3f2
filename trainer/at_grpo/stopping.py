"""The ways a run ends early. Torch-free, so that the command line can name them."""

from pathlib import Path


class InterruptedRun(KeyboardInterrupt):  # it is one: callers that know only KeyboardInterrupt stop as well
    """A run that was asked to stop, finished its iteration and left a checkpoint to go on from."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(f"stopped; {checkpoint} is complete")
        self.checkpoint = checkpoint


class WorkerError(RuntimeError):
    """A process that trains is lost, or has failed. What was done since the last checkpoint is not used."""
