"""
100,000 rows
============

*My data have too many rows for a graph of all pairs.* :class:`~kernelbraid.LKG` learns on 30,000 of them, and places
all others by these, block by block.
"""

# %%
# Rows
# ----
# 100,000 rows in 8 columns: eight clusters, three of them bent and one with a tenth of the rows of the largest.

import time

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.cluster import MiniBatchKMeans

from kernelbraid import LKG
from kernelbraid.metrics import ari
from kernelbraid.plotting import plot_embedding

rng = np.random.default_rng(0)
n, d = 100_000, 8
share = np.linspace(1.0, 0.1, 8)
y = rng.choice(8, n, p=share / share.sum())
X = rng.normal(scale=0.5, size=(n, d)).astype(np.float32) + rng.normal(scale=2.5, size=(8, d)).astype(np.float32)[y]
for cluster in range(3):  # bend it to an arc
    rows = y == cluster
    angle = rng.uniform(0, np.pi, rows.sum())
    X[rows, cluster] += 14 * np.cos(angle)
    X[rows, cluster + 1] += 14 * np.sin(angle)

# %%
# Fit
# ---
# Time and memory grow with the number of rows, not with its square. The rows may also be a file, or on Dask.

start = time.perf_counter()
model = LKG(8, random_state=0, n_jobs=2).fit(X)
seconds = time.perf_counter() - start
kmeans = MiniBatchKMeans(8, n_init=3, random_state=0).fit(X)
print(f"{n} rows: {seconds:.1f} seconds")
print(f"adjusted Rand index: LKG {ari(y, model.labels_):.3f}, k-means {ari(y, kmeans.labels_):.3f}")

# %%
# Look at some of them
# --------------------
# Two of the columns, in which one of the arcs lies, and the map of 2,000 rows at even distances.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
axes[0].scatter(*X[::25, :2].T, c=model.labels_[::25], s=3, cmap="tab10")
axes[0].set_title("Two columns", loc="left")
axes[0].set(xticks=[], yticks=[], aspect="equal")
plot_embedding(model, ax=axes[1])
plt.show()

# %%
# Rows that come later
# --------------------
# A million of them would be labelled in the same way, block by block.

later = X[:1000] + rng.normal(scale=0.05, size=(1000, d)).astype(np.float32)
print(f"the same label as before: {np.mean(model.predict(later) == model.labels_[:1000]):.1%}")
