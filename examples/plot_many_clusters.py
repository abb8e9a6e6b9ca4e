"""
Twenty clusters in one picture
==============================

*Two axes cannot show twenty clusters.* A map of the graph can: neighbours in the graph stand together, and every
cluster has its name in its middle.
"""

# %%
# Twenty blobs in eight dimensions
# --------------------------------

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from kernelbraid import LKG
from kernelbraid.metrics import ari
from kernelbraid.plotting import plot_embedding

X, y = make_blobs(500, n_features=8, centers=20, cluster_std=1.5, random_state=0)
model = LKG(20, random_state=0).fit(X)
print(f"adjusted Rand index {ari(y, model.labels_):.3f}")

# %%
# Axes and a map
# --------------
# The spectral embedding has as many axes as clusters. The first two principal ones lay most clusters over each other;
# up to three clusters they are all it takes. From four on, ``layout="auto"`` draws the map. Colours and markers
# together tell clusters apart. How near clusters stand on a map says little.

fig, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
plot_embedding(model, layout="spectral", ax=axes[0])
plot_embedding(model, ax=axes[1])
plt.show()

# %%
# On dark ground, and with doubts
# -------------------------------
# Words follow the ground of the figure. ``confidence=True`` draws samples the paler, the less sure their labels are.

with plt.style.context("dark_background"):
    fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
    plot_embedding(model, confidence=True, ax=ax)
    plt.show()
# sphinx_gallery_thumbnail_number = 2
