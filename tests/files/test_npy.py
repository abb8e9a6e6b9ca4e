import numpy as np
import pytest

from files.small_files import X, refuse, write
from kernelbraid.datasets import open_stream, read_labels, read_samples
from kernelbraid.files import memory


def with_header(header, body=b""):
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


def header_of(shape, descr="'<f8'"):
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


@pytest.mark.parametrize(
    "header",
    [
        header_of("(4, 5"),
        header_of("(9223372036854775807, 9223372036854775807)"),
        header_of("(True, True)"),
        header_of("(-1, 5)"),
        header_of("(2.0, 1)"),
        header_of("(4, 5)", "'|V0'"),
        header_of("(1, 1)", "('<f8', (1000, 1000))"),
        header_of("(2,)", "[" * 90 + "]" * 90),
        header_of("-" * 5000 + "1"),
        "{'descr'",
        "\x00\xff",
    ],
)
def test_a_header_that_makes_no_sense_gets_one_sentence(tmp_path, header):
    for read in [read_samples, read_labels, open_stream]:
        refuse(read, write(tmp_path, "a.npy", with_header(header, bytes(64))), "damaged", "write it again")


@pytest.mark.parametrize("read", [read_samples, open_stream])
def test_an_array_that_ends_early_is_refused(tmp_path, read):
    np.save(tmp_path / "a.npy", X)
    refuse(read, write(tmp_path, "a.npy", (tmp_path / "a.npy").read_bytes()[:-8]), "longer than the file")


def test_a_later_version_of_the_format_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", X)
    content = bytearray((tmp_path / "a.npy").read_bytes())
    content[6] = 9
    refuse(read_samples, write(tmp_path, "a.npy", bytes(content)), "damaged")


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_both_orders_come_back(tmp_path, order):
    np.save(tmp_path / "a.npy", np.asarray(X, order=order))
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").X, X)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    np.save(tmp_path / "a.npy", np.zeros((100, 100)))
    refuse(read_samples, tmp_path / "a.npy", "the array takes 100 KB of memory, and 1 KB are free", "--landmarks")
    assert open_stream(tmp_path / "a.npy").n_samples == 100
