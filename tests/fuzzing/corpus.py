"""Small valid files of every format, and some that have led readers astray, made by code."""

import io
import zipfile
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import savemat

X = np.round(np.random.default_rng(0).normal(size=(9, 3)), 3)
Y = np.arange(9) % 3
THIN = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
IDS = [f"row {number}" for number in range(9)]


def _bytes(write: Callable[[Any], object]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _texts(separator: str) -> list[bytes]:
    rows = [separator.join(map(str, row)) for row in X.tolist()]
    lines = {
        "plain": rows,
        "named": [separator.join("abc"), *rows],
        "ids": [
            separator.join(["id", *"abc"]),
            *(f"{name}{separator}{row}" for name, row in zip(IDS, rows, strict=True)),
        ],
        "labels": [
            separator.join(["a", "b", "c", "label"]),
            *(f"{row}{separator}{y}" for row, y in zip(rows, Y, strict=True)),
        ],
        "quoted": ['"a"', '"1"', "2", '"3.5"'],
        "gaps": [separator.join(("5.1", "NA", "1.4")), *rows],
        "marks": [separator.join("???"), *rows],
        "slips": [separator.join(("3..5", "1", "2")), *rows],
        "words": ["label", "1541815603606036480", "1541815603606036481", "1541815603606036482"],
        "exponents": ["y", "1e400", "-0", "1_000", "0x10", "١٢"],
        "doubled": [separator.join("aab"), *rows],
        "decimal commas": ['"1,5"' + separator + "2", '"3,5"' + separator + "4"],
    }
    ends = ("\n", "\r\n", "\r")
    made = [(ends[number % 3].join(text) + ends[number % 3]).encode() for number, text in enumerate(lines.values())]
    return [*made, "\ufeff".encode() + made[1], made[0].decode().encode("utf-16"), b"\n\n" + made[0], b'"' + made[0]]


def _npy() -> list[bytes]:
    arrays = [X, np.asfortranarray(X.astype("f4")), X.astype(">f8"), X.astype("f2"), Y, Y.astype("u1"), X > 0]
    arrays += [np.stack([X @ X.T] * 2), np.array(["a", "b", "c"]), X.astype(complex), np.zeros((0, 3)), np.array(3.0)]
    arrays += [np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), X.astype("M8[s]"), X.astype(np.longdouble)]
    made = [_bytes(partial(np.save, arr=array)) for array in arrays]
    made.append(_bytes(partial(np.lib.format.write_array, array=X, version=(2, 0))))
    shape = str(X.shape).encode()
    made += [made[0].replace(shape, other.ljust(len(shape))) for other in (b"(-9,3)", b"(9, 3", b"9,", b"(9,3,)")]
    return [
        *made,
        made[0].replace(b"(9, 3), ", b"(True, 3)"[:8]),
        made[0].replace(b"<f8", b"|O8"),
        made[0].replace(b"<f8", b"<f9"),
    ]


def _npz() -> list[bytes]:
    made = [
        _bytes(partial(np.savez, X=X, y=Y)),
        _bytes(partial(np.savez_compressed, X=X.astype("i4"), y=Y, text="hello")),
    ]
    made += [_bytes(partial(sparse.save_npz, matrix=kind(THIN))) for kind in (sparse.csr_array, sparse.coo_array)]
    parts = {"X_data": THIN.data, "X_indices": THIN.indices, "X_indptr": THIN.indptr, "X_shape": np.array(THIN.shape)}
    made.append(_bytes(partial(np.savez, y=Y, **parts)))
    made.append(_bytes(partial(np.savez_compressed, X=np.zeros((2000, 2000)))))  # much larger than the file
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        made.append(_zipped({"X.npy": _npy()[0], "note.txt": b"no array"}, method))
    return [*made, _zipped({"X.npy": b"no array"}), _zipped({}), _zipped({"X.npy": _npy()[0], "y": b""})]


def _zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def _mat() -> list[bytes]:
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = X, np.array(["text"])
    words = np.array([["one"], ["b"], ["cc"]], dtype=object)
    contents = [
        {"X": X, "y": Y},
        {"fea": sparse.csc_array(THIN), "gnd": Y[:, None]},
        {"X": X.astype("f4"), "labels": words},
    ]
    contents += [
        {"data": cells, "s": {"a": 1, "b": "t"}, "z": X[:2] * 1j},
        {"i": np.arange(24, dtype="i2").reshape(2, 3, 4)},
    ]
    contents += [{"X": X > 0, "e": np.zeros((0, 3)), "t": "text"}]
    made = [
        _bytes(partial(savemat, mdict=content, do_compression=packed))
        for content in contents
        for packed in (False, True)
    ]
    old = {"X": X, "y": Y.astype(float), "t": "text", "S": sparse.csc_array(THIN)}
    made.append(_bytes(partial(savemat, mdict=old, format="4")))
    made.append(_bytes(partial(savemat, mdict={"X": np.zeros((2000, 2000))}, do_compression=True)))
    return made


def _parquet() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = dict(zip("abc", X.T, strict=True))
    tables = [
        (pa.table(columns), {}),
        (pa.table({"id": IDS, **columns, "label": Y}), {"row_group_size": 4, "compression": "zstd"}),
        (pa.table({"x": pa.array([1, 2, None]), "label": ["u", "v", "u"]}), {"write_page_checksum": True}),
        (
            pa.table({"x": pa.array([1, 2, 3], pa.decimal128(9, 2)), "b": [True, False, True]}),
            {"use_dictionary": False},
        ),
        (pa.table({"c": [[1.0], [2.0, 3.0]], "d": [{"e": 1}, {"e": 2}]}), {"compression": "none"}),
        (pa.table({"a": np.zeros(100_000)}), {"compression": "gzip"}),
        (pa.table({"label": [1541815603606036480, 1541815603606036481]}), {}),
    ]
    pandas = b'{"index_columns": ["a"], "column_indexes": [], "columns": []}'
    tables.append((pa.table(columns).replace_schema_metadata({b"pandas": pandas}), {"compression": "none"}))
    return [_bytes(lambda file, table=table, more=more: pq.write_table(table, file, **more)) for table, more in tables]


MAKERS: dict[str, Callable[[], list[bytes]]] = {
    ".csv": partial(_texts, ","),
    ".tsv": partial(_texts, "\t"),
    ".npy": _npy,
    ".npz": _npz,
    ".mat": _mat,
    ".parquet": _parquet,
}


@cache
def corpus(suffix: str) -> tuple[bytes, ...]:
    """Return small files of a format."""
    return tuple(MAKERS[suffix]())
