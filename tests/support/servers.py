"""Real servers that tests start on a loopback port of their own, and end."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import ibis
import pytest

from support.promised import missing, need

# A server that lives for minutes compiles once and quickly, and has one thread for its garbage.
_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_DEPLOY = "org.apache.spark.deploy.{}"
_POSTGRES_PLACES = "/usr/lib/postgresql/*/bin"


def free_port() -> int:
    """A loopback port nobody listens on.

    It is below those that the system gives to connections, so that none takes it before it is used.
    """
    while True:
        port = 12_000 + secrets.randbelow(20_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def postgres() -> Iterator[str]:
    """A new PostgreSQL server; its address."""
    with crashing_postgres() as (address, _):
        yield address


@contextmanager
def crashing_postgres() -> Iterator[tuple[str, Callable[[], None]]]:
    """A new PostgreSQL server: its address, and what ends it without a word and starts it again.

    It answers a commit before the commit is written, unless a session asks for more.
    """
    programs = _postgres_programs()
    # It refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="understudy-postgres-"))
    if user:
        shutil.chown(folder, user)
    data = folder / "data"

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "--auth=trust", "--username=owner", "--encoding=UTF8", "--no-sync")
        # Not before: who asks for a port while a database is set up might be given the same one.
        port = free_port()
        settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        settings += " -c synchronous_commit=off"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
        try:
            address = f"postgres://owner@127.0.0.1:{port}/postgres"
            log = ["-l", str(folder / "log")]
            yield address, partial(run, "pg_ctl", "-w", *log, "-m", "immediate", "restart")
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_programs() -> Path:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/").glob(_POSTGRES_PLACES[1:]))
    if not places:
        missing("PostgreSQL")
    return places[-1]


@contextmanager
def mariadb() -> Iterator[str]:
    """A new MariaDB server with an empty database; its address."""
    program, install = _mariadb_program("mariadbd"), _mariadb_program("mariadb-install-db")
    folder = Path(tempfile.mkdtemp(prefix="understudy-mariadb-"))
    # It refuses to run as root.
    user = "mysql" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    data, port = folder / "data", free_port()
    common = ["--no-defaults", f"--datadir={data}", "--skip-name-resolve"]
    normal = ["--auth-root-authentication-method=normal", "--skip-test-db"]
    with (folder / "log").open("wb") as log:
        settings = [f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder}/socket"]
        settings += ["--innodb-flush-log-at-trx-commit=0", f"--pid-file={folder}/pid"]
        try:
            command = [install, *common, *normal]
            subprocess.run(command, check=True, user=user, cwd=folder, stdout=log, stderr=log)
            command = [program, *common, *settings]
            process = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
            try:
                _wait_for(port, process)
                yield f"mariadb://root@127.0.0.1:{port}/"
            finally:
                process.kill()
                process.wait()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _mariadb_program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if found is None:
        missing("MariaDB")
    return str(found)


@contextmanager
def spark() -> Iterator[Any]:
    """A new Spark session on two cores of this machine, as ibis has it."""
    need("pyspark")
    if shutil.which("java") is None:
        missing("Java")
    from pyspark.sql import SparkSession

    folder = Path(tempfile.mkdtemp(prefix="understudy-spark-"))
    builder = SparkSession.builder.master("local[2]").appName("understudy-tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": _BRIEF,
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield ibis.pyspark.connect(session)
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def spark_connect() -> Iterator[str]:
    """A new server of Spark Connect on two cores of this machine; its address."""
    with connect_server() as (address, _):
        yield address


@contextmanager
def connect_server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A new server of Spark Connect, its address and its process."""
    need("grpc_status")
    if shutil.which("java") is None:
        missing("Java")
    pyspark = need("pyspark")
    folder = Path(tempfile.mkdtemp(prefix="understudy-spark-connect-"))
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": _BRIEF,
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    command += [part for each in settings.items() for part in ("--conf", "=".join(each))]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    here = dict(os.environ) | {"PYSPARK_PYTHON": sys.executable}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "spark-internal"], cwd=folder, stdout=log, stderr=log, env=here
        )
    try:
        _wait_for(port, process, seconds=120)
        yield f"sc://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def spark_cluster() -> Iterator[tuple[str, dict[str, str], int]]:
    """A new cluster of Spark: its address, what a driver's environment needs, and its worker.

    The worker's number is that of its process, whose children are the executors.
    """
    if shutil.which("java") is None:
        missing("Java")
    program = str(Path(need("pyspark").__file__).parent / "bin" / "spark-class")
    folder, port = Path(tempfile.mkdtemp(prefix="understudy-spark-cluster-")), free_port()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": _BRIEF,
        "spark.executor.extraJavaOptions": _BRIEF,
        "spark.executor.memory": "512m",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (folder / "spark-defaults.conf").write_text(lines)
    own = {"SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
    own |= {"SPARK_DAEMON_JAVA_OPTS": _BRIEF}
    here = dict(os.environ) | own | {"PYSPARK_PYTHON": sys.executable}
    address, common = f"spark://127.0.0.1:{port}", ["--host", "127.0.0.1", "--webui-port", "0"]
    master = [_DEPLOY.format("master.Master"), *common, "--port", str(port)]
    worker = [_DEPLOY.format("worker.Worker"), *common, "--cores", "2", "--memory", "1g"]
    worker += ["--work-dir", str(folder / "work"), address]
    processes = []
    with (folder / "log").open("wb") as log:
        try:
            for command in (master, worker):
                started = subprocess.Popen(
                    [program, *command], cwd=folder, stdout=log, stderr=log, env=here
                )
                processes.append(started)
                _wait_for(port, started, seconds=120)
            yield address, here, started.pid
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def redis_server(port: int | None = None) -> Iterator[str]:
    """A new Redis server that keeps nothing on disk; its address."""
    program = shutil.which("redis-server")
    if program is None:
        missing("redis-server")
    folder, port = Path(tempfile.mkdtemp(prefix="understudy-redis-")), port or free_port()
    settings = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    command = [str(program), "--port", str(port), *settings]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, process: subprocess.Popen[bytes], *, seconds: int = 10) -> None:
    """Until a server listens."""
    for _ in range(100 * seconds):
        assert process.poll() is None, "the server ended at once"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    pytest.fail("the server did not start")


@contextmanager
def object_store() -> Iterator[str]:
    """A new S3 server of moto's with a bucket `lake`; the options of its addresses."""
    need("moto")
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        with socket.create_connection((host, port), timeout=30) as client:
            client.sendall(b"PUT /lake HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            assert b"200" in client.recv(4096)
        yield f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    finally:
        server.stop()
