"""The analyst on the network: a SuperLink of its own, and a run with the holders it knows."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import DataError, UsageError
from understudy.federated.wire import bundle, flower
from understudy.federated.wire.channel import FlowerChannel, FlowerRun
from understudy.federated.wire.keys import public_key
from understudy.federated.wire.superlink import OPEN_CALL, LaunchOptions
from understudy.system.faults import shows_messages

_START_SECONDS = 120.0
_END_SECONDS = 10.0
_TASK_HEARTBEAT_SECONDS = 10.0


@dataclass(frozen=True)
class Listening:
    """Where holders find the analyst, and the certificate that it shows them."""

    host: str
    port: int
    certificate: Path
    key: Path

    @property
    def reached_at(self) -> str:
        """The host by which this machine reaches itself."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
        return everywhere.get(self.host, f"[{self.host}]" if ":" in self.host else self.host)


@contextmanager
def opened(
    listening: Listening,
    keys: Mapping[str, Path],
    *,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[FlowerChannel]:
    """A channel to the holders with these public keys, over a SuperLink that ends with it."""
    flower.prepare()
    if not keys:
        raise UsageError("no holder's public key was given; give at least one")
    public = {name: public_key(place) for name, place in keys.items()}
    secret = secrets.token_urlsafe(32)
    with _superlink(listening, secret) as port, _run(listening, port, secret, public) as run:
        channel = FlowerChannel(run, f"{listening.reached_at}:{port}", say)
        with _told_plainly():
            yield channel
        # Not after a failure: the analyst may come back, and holders wait for it.
        channel.send_closing()


@contextmanager
def _told_plainly() -> Iterator[None]:
    import httpx

    try:
        yield
    except httpx.HTTPError:
        raise DataError(
            "the SuperLink of this analyst stopped answering; start the analyst again, and its "
            "journal spares holders what they have answered"
        ) from None


@contextmanager
def _superlink(listening: Listening, secret: str) -> Iterator[int]:
    """The SuperLink's process, whose life hangs on a pipe; gives its port."""
    for what, place in (("certificate", listening.certificate), ("key", listening.key)):
        if not place.is_file():
            raise DataError(f"{what} {place}: is not there; make it with: understudy keys analyst")
    settings = LaunchOptions(
        host=listening.host,
        port=listening.port,
        certificate=str(listening.certificate),
        key=str(listening.key),
        secret=secret,
    )
    loud = shows_messages()
    process = subprocess.Popen(
        [sys.executable, "-m", "understudy.federated.wire.superlink"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if loud else subprocess.DEVNULL,
        text=True,
        # Ctrl-C is for the analyst, who then closes the pipe.
        start_new_session=True,
    )
    try:
        yield _started(process, settings)
    finally:
        _end(process)


def _started(process: subprocess.Popen[str], settings: LaunchOptions) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    late = threading.Timer(_START_SECONDS, process.kill)
    late.start()
    try:
        process.stdin.write(settings.line())
        process.stdin.flush()
        told = json.loads(process.stdout.readline() or "{}")
    except BrokenPipeError:
        told = {}
    finally:
        late.cancel()
    if "port" in told:
        return int(told["port"])
    why = told.get("error", "it ended before it was ready; check certificate and key")
    raise DataError(f"SuperLink at {settings.host}:{settings.port}: cannot be started ({why})")


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


@contextmanager
def _run(
    listening: Listening, port: int, secret: str, public: Mapping[str, Any]
) -> Iterator[FlowerRun]:
    from flwr.proto.runtime_pb2 import PullTaskInputRequest, PushTaskOutputRequest
    from flwr.supercore.control import ControlHttpClient
    from flwr.supercore.interceptors import RuntimeTokenHttpInterceptor
    from flwr.supercore.runtime import RuntimeHttpClient

    def client(kind: Any, *more: Any) -> Any:
        made = kind(
            f"https://{listening.reached_at}:{port}",
            interceptors=[flower.version_header("understudy"), *more],
            verify=flower.trusting(listening.certificate, own=True),
        )
        return flower.bounded(made, secret=secret)

    with client(ControlHttpClient) as control, client(RuntimeHttpClient) as runtime:
        nodes = {name: _registered(control, key) for name, key in public.items()}
        number, token = _begun(control, runtime)
        runtime._client.post(f"{runtime._base_url}{OPEN_CALL}", content=b"").raise_for_status()
    with client(RuntimeHttpClient, RuntimeTokenHttpInterceptor(token)) as working:
        working.PullTaskInput(PullTaskInputRequest())
        with _heartbeats(working):
            yield FlowerRun(working, number, nodes)
        with suppress(Exception):
            working.PushTaskOutput(PushTaskOutputRequest(sub_status="completed", details=""))


def _registered(control: Any, key: Any) -> int:
    from flwr.proto.control_pb2 import RegisterNodeRequest
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes

    request = RegisterNodeRequest(public_key=public_key_to_bytes(key))
    return int(control.RegisterNode(request).node_id)


def _begun(control: Any, runtime: Any) -> tuple[int, str]:
    """Begin a run and take its work on, in the place of a process that Flower would start."""
    from flwr.common.serde import fab_to_proto
    from flwr.proto.control_pb2 import StartRunRequest
    from flwr.proto.runtime_pb2 import AcquireTaskRequest
    from flwr.supercore.fab import Fab

    packed = bundle.content()
    fab = fab_to_proto(Fab(bundle.digest(packed), packed, {}))
    number = int(control.StartRun(StartRunRequest(fab=fab)).run_id)
    acquired = runtime.AcquireTask(AcquireTaskRequest(supported_task_types=["flwr-serverapp"]))
    if acquired.task.run_id != number or not acquired.token:
        raise DataError("the SuperLink gave no work for the run that was begun; start again")
    return number, str(acquired.token)


@contextmanager
def _heartbeats(client: Any) -> Iterator[None]:
    from flwr.proto.runtime_pb2 import SendTaskHeartbeatRequest

    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(_TASK_HEARTBEAT_SECONDS):
            with suppress(Exception):
                client.SendTaskHeartbeat(SendTaskHeartbeatRequest())

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
