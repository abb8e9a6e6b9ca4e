"""Random settings and damaged files: what comes back is right and complete, or one sentence says why not."""

import csv
import warnings
from functools import cache, partial
from numbers import Integral
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils._param_validation import Interval, Options

import kernelbraid
from kernelbraid import ADMM, LKG, LKGClassifier, _blocks, load_model, methods, save_model
from kernelbraid.datasets import DataError, column_names, read_labels, read_samples
from kernelbraid.io import tables as io_tables
from kernelbraid.kernels import BANKS, Gaussian, Linear, Neighbours, Polynomial, SelfTuning

rng = np.random.default_rng(0)
X = rng.normal(size=(9, 3)).round(3)
SIGNS = [b",", b'"', b"\0", b"-", b"\n"]
LENGTHS = [0, 1, 8, 2**16, 10**9, 2**31 - 1, 2**31, 2**32 - 1]  # in four bytes: they overflow, or take all memory


def check_sentence(message, about=""):
    """Expect one line that a person can read, and that names what it is about."""
    text = str(message)
    assert text.isprintable(), text
    assert 10 <= len(text) <= 1000, text
    assert " " in text.strip(), text
    assert str(about) in text, text


def dense(A):
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


# --- files that are damaged


def tables_of(between):
    """Small valid tables."""
    rows = [between.join(map(str, row)) for row in X]
    named = [f"row {i}{between}{row}{between}{'uv'[i % 2]}" for i, row in enumerate(rows)]
    decimals = [";".join(str(x).replace(".", ",") for x in row) for row in X]
    lines = [rows, [between.join(["id", "a", "b", "c", "label"]), *named], ['"a"', '"1"', "2"], ["a;b;c", *decimals]]
    return ["\n".join([*text, ""]).encode() for text in lines]


@st.composite
def damaged(draw, files):
    """One of the files with a few changes, as disks, wires and people make them."""
    content = bytearray(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 4))):
        last = max(len(content) - 1, 0)
        at = draw(st.one_of(st.integers(0, last), st.integers(0, min(last, 80)), st.integers(max(0, last - 80), last)))
        way = draw(st.sampled_from(["bit", "bit", "length", "insert", "remove", "cut", "repeat"]))
        if way == "bit" and content:
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif way == "length":
            content[at : at + 4] = draw(st.sampled_from(LENGTHS)).to_bytes(4, "little")
        elif way == "insert":
            content[at:at] = draw(st.one_of(st.binary(min_size=1, max_size=9), st.sampled_from(SIGNS)))
        elif way == "remove":
            del content[at : at + draw(st.integers(1, 9))]
        elif way == "cut":
            del content[at:]
        else:
            content[at:at] = content[at : at + draw(st.integers(1, 60))]
    return bytes(content)


def read(call, path):
    """Return what a reader gives; None if it refuses in a sentence that names the file."""
    try:
        return call(path)
    except DataError as error:
        return check_sentence(error, path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_damaged_table_is_read_alike_in_memory_and_on_disk_or_refused_in_a_sentence(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"

    def read_to_disk(path):  # two rows at a time
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_blocks, "available_bytes", lambda: 0)
            patched.setattr(io_tables, "parse", partial(io_tables.parse, chunksize=2))
            return read_samples(path)

    @settings(max_examples=250)
    @given(damaged(tables_of("," if suffix == ".csv" else "\t")))
    def check(content):
        path.write_bytes(content)
        samples, again = read(read_samples, path), read(read_to_disk, path)
        labels, names = (read(call, path) for call in (read_labels, column_names))
        assert (samples is None) == (again is None)
        if samples is not None:
            values = dense(samples.X)
            assert values.size
            assert np.isfinite(values).all()
            np.testing.assert_array_equal(values, dense(again.X))
            assert samples.ids is None or len(samples.ids) == len(values)
        assert labels is None or (labels.values.ndim == 1 and labels.values.size)
        assert names is None or isinstance(names, list)

    check()


# --- tables that come back

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, -1.5, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 2.0**53 + 2]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-1000, 1000).map(float),
)
WORDS = st.one_of(  # with what cuts, quotes and breaks lines, and what might be taken for something else
    st.sampled_from(["a", "id", "NA", "nan", "?", "1", "1.0", "x y", "é", "-", "3..5", "True", "1e5"]),
    st.text(st.sampled_from("ab,;\t\"'\n.1é☃ "), min_size=1, max_size=6).filter(str.strip),
)


@st.composite
def tables(draw):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n))
    names = [f"c{i} {name}".strip() for i, name in enumerate(draw(st.lists(WORDS, min_size=d, max_size=d)))]
    ids = draw(st.one_of(st.none(), st.lists(WORDS.map(str.strip), min_size=n, max_size=n)))
    return np.array(rows), names, ids


def write_table(path, values, names, ids):
    columns = ({} if ids is None else {"id": ids}) | dict(zip(names, values.T.tolist(), strict=True))
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(columns).to_parquet(path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [[*columns], *zip(*columns.values(), strict=True)]
        csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t").writerows(rows)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_table_comes_back_as_it_was_written(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"

    @settings(max_examples=250)
    @given(tables())
    def check(table):
        values, names, ids = table
        write_table(path, values, names, ids)
        samples = read(read_samples, path)
        if samples is not None:
            np.testing.assert_array_equal(samples.X, values)
            assert [name.strip() for name in samples.feature_names] == names
            assert ids is None or [name.strip() for name in samples.ids] == ids

    check()


# --- models that are damaged


@cache
def saved():
    """A few models as files, by the labels that they give to new samples."""
    Y = np.arange(9) % 2
    models = [LKG(2, random_state=0), LKGClassifier()]
    found = {}
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nine samples of noise are hardly clusters
        for model in models:
            save_model(model.fit(X, Y), path := f"{folder}/a.model")
            with open(path, "rb") as file:  # noqa: PTH123
                found[file.read()] = model.predict(X + 0.1).tolist()
    return found


@settings(max_examples=500)
@given(damaged(list(saved())))
def test_a_damaged_model_is_refused_in_a_sentence_or_says_what_it_said(tmp_path, content):
    path = tmp_path / "a.model"
    path.write_bytes(content)
    try:
        labels = load_model(path).predict(X + 0.1).tolist()
    except ValueError as error:
        check_sentence(error, path)
    else:
        assert labels in saved().values()


# --- settings and samples that nobody has tried

CLASSES = [
    getattr(room, name)
    for room in (kernelbraid, methods)
    for name in room.__all__
    if hasattr(getattr(room, name), "fit")
]
CLASSES = [cls for cls in CLASSES if hasattr(cls, "fit_predict") or cls is LKGClassifier]
KERNELS = [Gaussian(1e-3), Gaussian(1e6), Linear(None), Polynomial(1e6, 8, "max"), SelfTuning(3), Neighbours(5)]
SMALL = {"n_init": [1, 3], "max_iter": [1, 5, 30], "block_size": [1, 7, 1000]}
FIXED = ("n_clusters", "random_state", "device", "candidates", "view_weights", "view_widths", "n_jobs")


def draw_settings(rng, cls):
    """Legal values of about a third of the parameters of a class."""
    drawn = {"random_state": 0, "n_clusters": int(rng.integers(1, 5))}
    for name, legal in cls._parameter_constraints.items():
        if name in FIXED or (rng.random() > 0.35 and name not in ("n_init", "max_iter")):
            continue
        ways = [one for one in legal if isinstance(one, Interval | Options) or one in ("boolean", None)]
        if name in SMALL:
            drawn[name] = SMALL[name][rng.integers(len(SMALL[name]))]
        elif name in ("solver", "clusterer"):
            nested = ADMM if name == "solver" else LKG
            drawn[name] = nested(**draw_settings(rng, nested))
        elif name == "kernel":
            drawn[name] = KERNELS[rng.integers(len(KERNELS))]
        elif name == "kernels":
            drawn[name] = [*BANKS, KERNELS[:3]][rng.integers(len(BANKS) + 1)]
        elif ways:
            drawn[name] = legal_value(rng, ways[rng.integers(len(ways))])
    return {name: value for name, value in drawn.items() if name in cls().get_params()}


def legal_value(rng, way):
    if isinstance(way, Options):
        return sorted(way.options, key=str)[rng.integers(len(way.options))]
    if not isinstance(way, Interval):
        return bool(rng.random() < 0.5) if way == "boolean" else None
    if way.type is Integral:
        return int(rng.choice([1, 2, 3, 5, 10, 100]))
    low, high = way.left or 0.0, way.right or np.inf
    return float(rng.uniform(low, high)) if high < np.inf else low + float(10 ** rng.uniform(-8, 8))


def draw_view(rng, n):
    """Samples: blobs, copies, constants, one-hot rows or rank one, of any scale and kind of array."""
    d = int(rng.choice([1, 2, 5, 20]))
    noise = rng.normal(size=(n, d))
    forms = [noise + 5 * rng.integers(0, 3, (n, 1)), noise[rng.integers(0, max(1, n // 3), n)], np.full((n, d), 3.0)]
    forms += [
        np.eye(max(n, d))[:n, :d],
        noise[:, :1] * rng.normal(size=d),
        np.where(rng.random((n, 1)) < 0.5, 0, noise),
    ]
    scaled = forms[rng.integers(6)] * float(rng.choice([1.0, 1.0, 1.0, 1e-30, 1e-12, 1e8, 1e30]))
    kinds = [np.asarray, np.asarray, np.float32, sparse.csr_array, np.asfortranarray]
    return kinds[rng.integers(5)](scaled)


@pytest.mark.parametrize("cls", CLASSES)
def test_any_legal_setting_gives_complete_labels_or_a_sentence(cls):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        drawn, n = draw_settings(rng, cls), int(rng.integers(4, 33))
        takes_views = not {"kernel", "block_size"} & drawn.keys()
        views = [draw_view(rng, n) for _ in range(int(rng.choice([1, 1, 2, 3])) if takes_views else 1)]
        samples, known = views if len(views) > 1 else views[0], rng.integers(-1, 3, n)
        before = [dense(view).copy() for view in views]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                model, again = (cls(**drawn).fit(samples, known) for _ in range(2))
            except (ValueError, MemoryError) as error:
                check_sentence(error)
                continue
            found = {name: getattr(model, name)(samples) for name in ("predict", "transform") if hasattr(model, name)}
        for warning in told:
            assert issubclass(warning.category, UserWarning), (seed, drawn, warning)
            check_sentence(warning.message)
        labels, others = (one.transduction_ if cls is LKGClassifier else one.labels_ for one in (model, again))
        assert labels.shape == known.shape, (seed, drawn)
        np.testing.assert_array_equal(labels, others, str((seed, drawn)))
        assert all(np.array_equal(dense(view), kept) for view, kept in zip(views, before, strict=True)), (seed, drawn)
        if "n_clusters" in drawn:
            assert set(labels) <= set(range(drawn["n_clusters"])), (seed, drawn)
        for name, value in found.items():
            assert np.isfinite(dense(value)).all(), (name, seed, drawn)
