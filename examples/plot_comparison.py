"""
Beside scikit-learn's clusterers
================================

*When is it better than what I use today?* scikit-learn compares its clusterers on six small data sets; here are some of
them, and LKG beside them.
"""

# %%
# Data and methods
# ----------------
# The data sets are those of scikit-learn's own figure: two circles, two moons, blobs of three widths, stretched blobs,
# blobs, and a square without clusters. Everybody is told the number of clusters but HDBSCAN, which finds it. LKG has
# its defaults on every set.

import time
import warnings

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG

N = 400
blobs, of_blobs = make_blobs(N, random_state=170)
sets = {
    "circles": (*make_circles(N, factor=0.5, noise=0.05, random_state=30), 2),
    "moons": (*make_moons(N, noise=0.05, random_state=30), 2),
    "three widths": (*make_blobs(N, cluster_std=[1.0, 2.5, 0.5], random_state=170), 3),
    "stretched": (blobs @ [[0.6, -0.6], [-0.4, 0.8]], of_blobs, 3),
    "blobs": (*make_blobs(N, random_state=30), 3),
    "nothing": (np.random.default_rng(30).random((N, 2)), None, 3),
}


def methods(k):
    """Return the clusterers, for so many clusters."""
    return {
        "KMeans": KMeans(k, n_init=10, random_state=0),
        "Ward": AgglomerativeClustering(k),
        "GaussianMixture": GaussianMixture(k, random_state=0),
        "Spectral": SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
        "HDBSCAN": HDBSCAN(min_cluster_size=15, copy=True),
        "LKG": LKG(k, random_state=0),
    }


# %%
# The figure
# ----------
# In the corners: the adjusted Rand index with what was planted, and the seconds of a fit.

colours = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#8E44AD"])
names = list(methods(2))
fig, axes = plt.subplots(len(sets), len(names), figsize=(12, 12), layout="constrained")
scores = {}
for row, (data, (X, y, k)) in zip(axes, sets.items(), strict=True):
    X = StandardScaler().fit_transform(X)
    for ax, (name, method) in zip(row, methods(k).items(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # scikit-learn's graph of neighbours is not connected
            start = time.perf_counter()
            labels = method.fit_predict(X)
        seconds = time.perf_counter() - start
        ax.scatter(*X.T, s=5, color=np.where(labels < 0, "#BBBBBB", colours[labels % len(colours)]))
        ax.set(xticks=[], yticks=[])
        ax.text(0.98, 0.02, f"{seconds:.2f} s", transform=ax.transAxes, ha="right", color="#555555", size="small")
        if y is not None:
            scores[data, name] = adjusted_rand_score(y, labels)
            ax.text(0.02, 0.02, f"{scores[data, name]:.2f}", transform=ax.transAxes, weight="bold")
        if row[0] is axes[0, 0]:
            ax.set_title(name)
    row[0].set_ylabel(data)
plt.show()

# %%
# The same as a table. No method is the best everywhere, and a square without clusters is cut by all that have to.

print(f"{'':14}" + "".join(f"{name:>16}" for name in names))
for data, (_, y, _) in sets.items():
    if y is not None:
        print(f"{data:14}" + "".join(f"{scores[data, name]:16.3f}" for name in names))
