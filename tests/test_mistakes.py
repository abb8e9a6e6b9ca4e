"""Mistakes that people make, as calls and as commands: each gets one sentence, or a warning."""

import pickle
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import pipeline, preprocessing
from typer.testing import CliRunner

import kernelbraid
from kernelbraid import datasets, kernels, methods, metrics
from kernelbraid.cli import app

CALLS = [
    "LKG(0).fit(X)",
    "LKG(3, alpha=-1).fit(X)",
    "LKG(3, preset='none').fit(X)",
    "LKG(9).fit(X[:4])",
    "LKG('auto').fit(X[:4])",
    "LKG(3).fit(X[0])",
    "LKG(3).fit(with_nan)",
    "LKG(3).fit(1 / np.where(X > 0, X, 0))",
    "LKG(3).fit(X + 1j)",
    "LKG(3).fit(X.astype(str).astype(object) + 'a')",
    "LKG(3).fit((X + 9) * [1, 1e4])",
    "EachView([]).fit([X, X])",
    "EachView('passthrough').fit([X, X]).transform(X)",
    "LKG(3).fit(X[None])",
    "LKG(3).fit([X, X[:9]])",
    "LKG(3).fit([X, X])",
    "LKG(3).fit([X, X + noise[:, :2] / 9, noise])",
    "LKG(3).fit([noise, noise[::-1]])",
    "LKG(3).fit([X, 0 * X])",
    "LKG(3).fit([X, np.nan * X])",
    "LKG(3).fit([np.where(np.arange(30)[:, None] == 4, np.nan, view) for view in (X, noise)])",
    "LKG(3, view_weights=[1]).fit([X, noise])",
    "LKG(3, view_weights=[1, 1], solver=ADMM()).fit([X, noise])",
    "LKG(3, fusion='graphs', solver=ADMM()).fit([X, noise])",
    "LKG(3, view_weights=[1, 1]).fit([X, noise]).solution_.g",
    "LKG(3).fit(X).solution_",
    "LKG(3, beta=0.1)",
    "LKG(3, keep_matrices=True)",
    "LKG(3).set_params(mu=1.0)",
    "LKG(3, solver='admm').fit(X)",
    "LKG(3, solver=ADMM(mu=-1)).fit(X)",
    "LKG(3, solver=ADMM(), approximation='exact').fit(X)",
    "LKG(3).set_params(solver__none=1)",
    "LKG(3, kernels='none').fit(X)",
    "LKG(3, kernels=[]).fit(X)",
    "LKG(3, kernels=[Gaussian]).fit(X)",
    "LKG(3, kernels=['rmkkm'] * 3).fit([X, X])",
    "LKG(3, kernels=[lambda a, b: a]).fit(X)",
    "LKG(3, kernels=[Polynomial(1, 4, None)]).fit(X * 1e100)",
    "LKG(3, kernels='precomputed').fit(X)",
    "LKG(3, kernels='precomputed').fit([K, K[:9, :9]])",
    "LKG(3, kernels='precomputed').fit([K + np.triu(K)])",
    "LKG(3, kernels='precomputed').fit([K * np.nan])",
    "LKG(3, kernels='precomputed').fit([K * 0])",
    "LKG(3, device='none').fit(X)",
    "LKG(3).fit(0 * X)",
    "LKG(3).predict(X)",
    "LKG(3).fit(X).predict(X[:, :1])",
    "LKG(3).fit(X).predict(with_nan)",
    "LKG(3, kernels='precomputed').fit([K]).predict([K[:, :9]])",
    "LKG(3, preset='authors', max_iter=1).fit(X)",
    "LKG(3, preset='authors', beta=1e6, gamma=1e-6, mu=1e-6).fit(X)",
    "LKG(3, preset='authors', alpha=1e9).fit(X)",
    "LKG(3, kernels=[Gaussian(1e-9)], graph_penalty='l1', alpha=1e3).fit(X)",
    "KernelKMeans(3, kernel='none').fit(X)",
    "KernelKMeans(3, max_iter=1).fit(noise)",
    "KernelKMeans(3, kernel='precomputed').fit([K, K])",
    "MultipleKernelKMeans(3, max_iter=1, tol=1e-300).fit(noise)",
    "MultipleKernelKMeans(3, robust=True, gamma=2).fit(X)",
    "AffinityAggregation(3, max_iter=1, tol=1e-300).fit(noise)",
    "SimplexGraph(3, max_iter=1).fit(noise)",
    "TwinGraph(3, max_iter=1, tol=1e-300).fit(noise)",
    "MultipleKernelTwinGraph(3, max_iter=1, tol=1e-300).fit(noise)",
    "SimpleMultipleKernelKMeans(3, kernels='precomputed').fit([K, -K])",
    "SelfWeightedMultipleKernel(3, max_iter=1, tol=1e-300).fit(noise)",
    "MultiViewGraphFusion(3, kernels=[Gaussian(1.0)]).fit(X)",
    "MultiViewGraphFusion(3, max_iter=1).fit(noise)",
    "CrossViewDiffusion(3).fit([X, X[:9]])",
    "LKGClassifier().fit(X, np.full(30, -1))",
    "LKGClassifier().fit(X, np.array(['a', -1, 'b'] * 10))",
    "LKGClassifier().fit(X, np.array(['a', 3, None] * 10, dtype=object))",
    "load_model('none.model')",
    "load_model('text.csv')",
    "save_model(LKG(3, kernels=[lambda a, b: a @ b.T]).fit(X), 'a.model')",
    "save_model(3, 'a.model')",
    "save_model(Pipeline([('log', FunctionTransformer(lambda X: X + 1)), ('lkg', LKG(3))]), 'a.model')",
    "save_model(Pipeline([('lkg', LKG(3)), ('scale', StandardScaler())]), 'a.model')",
    "Gaussian(-1)",
    "Linear('none')",
    "build_bank(X, 'none')",
    "evaluate([1, 2], [1])",
    "evaluate([1.0, np.nan], [1, 2])",
    "nmi([1, 2], [1, 2], average='none')",
    "load('none')",
    "read_samples('none.csv')",
    "read_samples('empty.csv')",
    "read_samples('text.csv')",
    "read_samples('gap.csv')",
    "read_samples('slip.csv')",
    "read_samples('cut.mat')",
    "read_labels('slip.csv')",
]
COMMANDS = [
    "cluster empty.csv",
    "cluster text.csv",
    "cluster gap.csv",
    "cluster slip.csv",
    "cluster a.xyz",
    "cluster one.csv",
    "cluster thousands.csv -k 2",
    "cluster marks.csv -k 2",
    "cluster thousands.csv -k 2 --decimal point",
    "cluster text.csv --delimiter pipe",
    "cluster X.npy -k 3 --out labels.xlsx",
    "cluster X.npy -k 3 -q -v",
    "cluster X.npy -k 99",
    "cluster four.npy",
    "cluster X.npy -k 3 --scale minmax",
    "cluster X.npy -k 3 --scale unit --kernels precomputed",
    "cluster uneven.npy -k 3 -q",
    "cluster uneven.csv -k 3 -q",
    "cluster X.npy uneven.npy -k 3 -q",
    "cluster X.npy -k 3 --n-jobs 0",
    "cluster X.npy -k 3 --n-jobs all",
    "cluster X.npy -k 3 --kernels precomputed",
    "cluster lopsided.npy -k 3 --kernels precomputed",
    "cluster zero.npy -k 3 --kernels precomputed",
    "cluster X.npy -k 3 --method KKM --kernels paper",
    "cluster X.npy -k 3 --set alhpa=1",
    "cluster X.npy -k 3 --set alpha",
    "cluster X.npy -k 3 --method RMKKM --gamma 2",
    "cluster X.npy X.npy -k 3 --method KKM",
    "cluster X.npy four.npy -k 3",
    "cluster X.npy X.npy -k 3 -q",
    "cluster X.npy noise.npy -k 3 -q",
    "cluster X.npy noise.npy -k 3 --fusion none",
    "cluster X.npy noise.npy -k 3 --fusion graphs --gamma 1",
    "cluster X.npy noise.npy -k 3 --view-weights 1",
    "cluster X.npy noise.npy -k 3 --view-weights 1,-1",
    "cluster X.npy noise.npy -k 3 --view-weights 1,1 --gamma 1",
    "cluster X.npy -k 3 --device none",
    "cluster X.npy -k 3 --preset authors --set max_iter=1 -q",
    "cluster X.npy -k 3 --preset authors --set beta=1e6 --gamma 1e-6 --set mu=1e-6 -q",
    "cluster X.npy -k 3 --preset authors --alpha 1e9 -q",
    *(
        f"cluster noise.npy -k 3 --set max_iter=1 --set n_init=1 --method {name} -q"
        + ("" if name == "SSR" else " --set tol=1e-300")
        for name in ("KKM", "RKKM", "SSR", "SCSK", "MKKM", "AASC", "RMKKM", "SCMK", "LKGs", "LKGr")
    ),
    "cluster flat.npy -k 3",
    "cluster dates.npy -k 3",
    "cluster complex.npy -k 3",
    "cluster stack.npy -k 3",
    "cluster no_features.npy -k 3",
    "cluster X.npy -k 3 --confidence --method KKM",
    "cluster text.csv -k 3 --drop none",
    "cluster two.npz -k 3",
    "cluster two.npz -k 3 --key none",
    "predict text.csv X.npy",
    "predict fitted.model narrow.npy",
    "score y.npy four.npy",
    "score grown.csv y.npy",
    "score words.csv words.csv",
    "score grown.csv y.npy --column none",
    "datasets fetch none",
]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the calls name, in a folder with the files that they and the commands read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("mistakes"))
        rng = np.random.default_rng(0)
        X = np.repeat([[0.0, 0.0], [5.0, 5.0], [0.0, 9.0]], 10, axis=0) + 0.1 * rng.standard_normal((30, 2))
        K, noise, with_nan = X @ X.T, rng.standard_normal((30, 4)), X.copy()
        with_nan[3, 1] = np.nan
        arrays = {"X": X, "noise": noise, "four": X[:4], "narrow": X[:, :1], "zero": 0 * K, "lopsided": K + np.triu(K)}
        arrays |= {"flat": X[0], "complex": X + 1j, "stack": X[None], "no_features": X[:, :0], "y": np.arange(30)}
        arrays |= {"dates": np.zeros((30, 2), "datetime64[s]"), "uneven": (X + 9) * [1, 1e4]}
        for name, array in arrays.items():
            np.save(f"{name}.npy", array)
        np.savez("two.npz", A=X, B=X)
        files = {"empty": "", "text": "a,b\n1,x\n2,y\n", "gap": "a,b\n1,2\n3,\n", "one": "a,b\n1,2\n"}
        files |= {"thousands": "a;b\n1,234;5\n2,345;6\n", "marks": "a;b\n0,5;1.234\n", "words": "kind\na\na\nb\nb\n"}
        files |= {"grown": "soil,height,width\n1,5.1,3.5\n1,4.9,3.5\n", "slip": "5.1,NA\n4.9,3\n"}
        files["uneven"] = "\n".join(["a,b", *(f"{a},{b}" for a, b in arrays["uneven"])])
        for name, text in files.items():
            Path(f"{name}.csv").write_text(text, encoding="utf-8")
        Path("cut.mat").write_text("MATLAB 5.0", encoding="utf-8")
        Path("a.xyz").write_text("1", encoding="utf-8")
        rooms = (kernelbraid, kernels, metrics, methods, datasets)
        public = {name: getattr(room, name) for room in rooms for name in room.__all__}
        public["save_model"](public["LKG"](3, random_state=0).fit(X), "fitted.model")
        public |= vars(preprocessing) | {"Pipeline": pipeline.Pipeline}
        yield {**public, "np": np, "X": X, "K": K, "noise": noise, "with_nan": with_nan}


def told_by(call, names):
    """Return the errors and warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(call, dict(names))
        except Exception as error:
            return [error]
    return [warning.message for warning in caught]


def test_a_call_that_goes_wrong_says_so_in_a_sentence(names):
    kinds = (ValueError, TypeError, MemoryError, AttributeError, OSError, UserWarning)
    for call in CALLS:
        told = told_by(call, names)
        assert told, call
        assert all(isinstance(one, kinds) and len(str(one).split()) > 3 for one in told), (call, told)
        for one in told:
            travelled = pickle.loads(pickle.dumps(one))
            assert (type(travelled), str(travelled)) == (type(one), str(one)), call


@pytest.mark.usefixtures("names")
def test_a_command_that_goes_wrong_says_so_in_a_sentence():
    for command in COMMANDS:
        told = " ".join(CliRunner().invoke(app, shlex.split(command)).stderr.split())
        assert told.startswith(("Error: ", "Warning: ")), (command, told)
        assert told.endswith("."), (command, told)
