import signal
import subprocess
import sys
import threading

import pytest

from kernelbraid.cli.ending import INTERRUPTED, interruptible

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for a child alone")

BUSY = """
import hashlib, os, signal, threading
from kernelbraid.cli.ending import interruptible
with interruptible(0.1):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()  # when the work is under way
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # minutes, and looks at no signal
"""
READY = """
import os, signal, time
from kernelbraid.cli.ending import interruptible
try:
    with interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
except KeyboardInterrupt:
    print("noticed")
"""


def ended(code):
    """Return how a process ends, and what it prints."""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


def test_a_computation_that_looks_at_no_signal_is_ended():
    assert ended(BUSY) == (INTERRUPTED, "", "Error: interrupted before the work was done.\n")


def test_whoever_notices_in_time_ends_by_itself():
    assert ended(READY) == (0, "noticed\n", "")


@pytest.fixture
def attentive():
    """Listen to SIGINT, which a process in the background may ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("attentive")
def test_everything_is_as_before_when_the_work_is_done():
    threads = threading.active_count()
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.set_wakeup_fd(before) == before
    for thread in threading.enumerate():
        if "_wait_for_signals" in thread.name:
            thread.join(10)
    assert threading.active_count() == threads


def test_whoever_handles_ctrl_c_goes_on_doing_so():
    mine = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, mine)
