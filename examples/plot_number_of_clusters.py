"""
How many clusters
=================

*I do not know the number of clusters.* ``n_clusters="auto"`` chooses one, says what speaks for it, names others that
are plausible, and warns where there are no clusters at all.
"""

# %%
# Clusters that are made of clusters
# ----------------------------------
# Three groups of three blobs each.

import warnings

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.datasets import make_blobs

from kernelbraid import LKG
from kernelbraid.plotting import plot_levels

rng = np.random.default_rng(3)
far = np.repeat([[0.0, 0.0], [14.0, 0.0], [7.0, 12.0]], 3, axis=0)
near = np.tile([[0.0, 0.0], [3.6, 0.0], [1.8, 3.1]], (3, 1))
X, _ = make_blobs(270, centers=far + near, cluster_std=0.55, random_state=0)

model = LKG(n_clusters="auto", random_state=0).fit(X)
print(*model.why_, sep="\n")

# %%
# Partitions that are plausible are in ``levels_``, from coarse to fine. Of nested clusters both numbers are right, and
# what the clusters are for decides.

print(*model.levels_, sep="\n")

fig, ax = plt.subplots(figsize=(6.6, 2.2), layout="constrained")
plot_levels(model, ax=ax)
plt.show()

# %%
# Coarser or finer
# ----------------
# ``at_level`` reads the same graph out at another level; nothing is learned anew.

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, fitted in zip(axes, (model.at_level(0), model.at_level(1)), strict=True):
    ax.scatter(*X.T, c=fitted.labels_, s=14, cmap="tab10")
    ax.set(title=f"{fitted.n_clusters_} clusters", aspect="equal", xticks=[], yticks=[])
plt.show()

# %%
# No clusters
# -----------
# Any cloud can be cut. This one falls apart no more easily than others of its mean and covariance: it stays in one
# piece, with a warning.

cloud = rng.normal(size=(270, 2))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nothing = LKG(n_clusters="auto", random_state=0).fit(cloud)
print(f"{nothing.n_clusters_} cluster")
print(caught[0].message)
# sphinx_gallery_thumbnail_number = 1
