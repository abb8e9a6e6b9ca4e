"""
Adding a method to the bench
============================

*I have a method and data of my own. How do they compare with the rest?* A method is a Python file, a data set is a CSV
file, an experiment is a few lines of TOML; nothing of the library has to be touched.
"""

# %%
# A method
# --------
# A class as scikit-learn's clusterers are: parameters with defaults, ``fit``, ``labels_``. This one smooths samples by
# their neighbours before it calls k-means.

from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

from kernelbraid import __version__
from kernelbraid.bench import Store, read_experiment, run
from kernelbraid.datasets import available, load

method = '''
from sklearn.cluster import KMeans
from sklearn.neighbors import kneighbors_graph


class Smoothed:
    """k-means on samples that are averaged with their neighbours."""

    def __init__(self, n_clusters=2, n_neighbors=10, steps=5, random_state=None):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.steps = steps
        self.random_state = random_state

    def fit(self, X):
        walk = kneighbors_graph(X, self.n_neighbors, include_self=True) / self.n_neighbors
        for _ in range(self.steps):
            X = walk @ X
        self.labels_ = KMeans(self.n_clusters, n_init=10, random_state=self.random_state).fit(X).labels_
        return self
'''

# %%
# Data
# ----
# A table with a column of classes: here two moons with three more columns of noise.

X, y = make_moons(300, noise=0.08, random_state=0)
X = np.column_stack([X, np.random.default_rng(0).normal(scale=0.1, size=(300, 3))])
table = pd.DataFrame(X, columns=["x", "y", "a", "b", "c"]).assign(moon=y)

# %%
# An experiment
# -------------
# The method takes part beside k-means, spectral clustering and LKG, on the table and on the wines of scikit-learn.

experiment = dedent("""
    title = "Smoothed samples"

    [data.moons]
    files = "moons.csv"
    labels = "moon"

    [methods.Smoothed]
    class = "smoothed.py:Smoothed"
    grid = { steps = [1, 5, 20] }

    [[run]]
    data = ["moons", "wine"]
    methods = ["Smoothed", "KMeans", "SC-knn", "LKG"]
    scoring = ["once"]
""")

# %%
# Run it
# ------
# At the shell this is ``kernelbraid bench run smoothed.toml --store smoothed.db``; ``bench tables`` and ``bench
# report`` make tables and a page of the store. A run that is stopped goes on where it was.

with TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "smoothed.py").write_text(method)
    (folder / "smoothed.toml").write_text(experiment)
    table.to_csv(folder / "moons.csv", index=False)
    store = Store(folder / "smoothed.db")
    run(read_experiment(folder / "smoothed.toml", load, available(), __version__), store)
    records = store.records()

rows = []
for record in records:
    steps = record.trial.parameters.get("steps")
    label = record.trial.method if steps is None else f"{record.trial.method}, {steps} steps"
    rows.append({"data": record.trial.data, "method": label, "accuracy": record.scores["acc"]})
scores = pd.DataFrame(rows).pivot(index="method", columns="data", values="accuracy")
print(scores.round(3))

# %%
# Beside the others
# -----------------

fig, ax = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
scores.plot.barh(ax=ax, color=["#0072B2", "#E69F00"], width=0.75)
ax.set(xlabel="accuracy", ylabel="", xlim=(0, 1), title="A method of one's own, beside others")
ax.legend(title="data", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
plt.show()
