import logging
import subprocess
import sys

import pytest

from kernelbraid import __version__
from kernelbraid import _dask as client
from kernelbraid._dask import DaskError, check_version, open_client

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

NOWHERE = "127.0.0.1:9"  # the port where nothing is kept


@pytest.fixture(scope="module")
def cluster():
    """A cluster of one worker in this process."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as cluster:
        cluster.wait_for_workers(1, timeout=60)
        yield cluster


def test_workers_with_this_version_are_given_work(cluster):
    with open_client(cluster.scheduler_address) as connected:
        assert connected.submit(sum, [1, 2, 3]).result() == 6
    assert connected.status == "closed"


def test_work_without_a_client_leaves_the_settings_of_distributed():
    code = (
        "import sys, dask\n"
        "from kernelbraid._dask import compute, task\n"
        "print('distributed' in sys.modules, *(compute([task(sum, sum, [1, 2])])[0] for _ in range(2)))\n"
        "import distributed\n"
        "print(dask.config.get('distributed.admin.large-graph-warning-threshold'))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.stdout.split() == ["False", "3", "3", "10MB"], result.stderr


def test_logs_are_as_loud_after_a_connection_as_before(cluster):
    logs = [logging.getLogger(name) for name in ("distributed.client", "asyncio")]
    before = [log.level for log in logs]
    with open_client(cluster.scheduler_address):
        assert {log.level for log in logs} == {logging.CRITICAL}
    assert [log.level for log in logs] == before
    with pytest.raises(KeyboardInterrupt), open_client(cluster.scheduler_address):
        raise KeyboardInterrupt
    assert [log.level for log in logs] == before


def test_a_worker_with_another_version_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(client, "__version__", "9.9")
    says = f"the Dask worker tcp://.* has kernelbraid {__version__}, this process has 9.9; install the same"
    with pytest.raises(DaskError, match=says), open_client(cluster.scheduler_address):
        pass


def test_versions_must_be_the_same_to_the_letter():
    check_version("tcp://w", "1.2", "1.2")
    for other in ("1.2.0", "1.20", "1.2.dev0"):
        with pytest.raises(DaskError, match=f"tcp://w has kernelbraid {other}, this process has 1.2;"):
            check_version("tcp://w", other, "1.2")


def test_a_worker_without_the_package_is_named(cluster, monkeypatch):
    lost = ImportError("No module named 'kernelbraid'")
    monkeypatch.setattr(distributed.Client, "run", lambda *_, **__: {"tcp://w": lost})
    says = r"the Dask worker tcp://w cannot import kernelbraid \(No module named 'kernelbraid'\); install kernelbraid"
    with pytest.raises(DaskError, match=says), open_client(cluster.scheduler_address):
        pass


def test_a_worker_is_no_scheduler(cluster):
    address = next(iter(cluster.scheduler.workers))
    with pytest.raises(DaskError, match=f"at '{address}' is a Dask worker; give"), open_client(address):
        pass


def test_a_scheduler_without_workers_is_refused(monkeypatch):
    monkeypatch.setattr(client, "PATIENCE", 1.0)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        address = empty.scheduler_address
        says = f"has no worker; start some with dask worker {address} --host 127.0.0.1"
        with pytest.raises(DaskError, match=says), open_client(address):
            pass


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (NOWHERE, f"no Dask scheduler answered at '{NOWHERE}' within 0.5 s; check that it runs"),
        ("localhost", r"'localhost' is no address of a Dask scheduler \(missing port number"),
        ("ftp://localhost:1", r"'ftp://localhost:1' is no address of a Dask scheduler \(unknown address scheme"),
        ("tls://127.0.0.1:9", "'tls://127.0.0.1:9' asks for a certificate, and Dask knows of none here; name its"),
    ],
)
def test_an_address_where_no_scheduler_answers_ends_with_a_sentence(address, says, monkeypatch):
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    with pytest.raises(DaskError, match=says), open_client(address):
        pass


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(DaskError, match=r'distributed; install it with pip install "kernelbraid\[dask\]"'),
        open_client(NOWHERE),
    ):
        pass
