"""
New samples
===========

*Samples come in after the fit. Which cluster are they in, and how sure is that?* ``predict`` and ``predict_proba``,
without a new fit.
"""

# %%
# Fit once
# --------
# Two half moons and a blob. The pipeline scales samples, in the fit and afterwards.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, load_model, save_model
from kernelbraid.metrics import ari


def draw(n, seed):
    """Return samples and their groups."""
    moons, y = make_moons(2 * n // 3, noise=0.06, random_state=seed)
    blob, _ = make_blobs(n // 3, centers=[[0.5, 2.1]], cluster_std=0.25, random_state=seed)
    return np.vstack([moons, blob]), np.r_[y, np.full(len(blob), 2)]


X, y = draw(300, seed=0)
pipeline = make_pipeline(StandardScaler(), LKG(3, random_state=0)).fit(X)

# %%
# Labels of new samples
# ---------------------
# They are expressed by the fitted samples, placed in the embedding of the graph, and get the nearest cluster.

new, truth = draw(600, seed=1)
labels = pipeline.predict(new)
print(f"fitted: adjusted Rand index {ari(y, pipeline[-1].labels_):.3f}, new: {ari(truth, labels):.3f}")
print("memberships of three of them:", pipeline.predict_proba(new[::250]).round(2).tolist(), sep="\n")

# %%
# Keep the model
# --------------
# The file holds numbers and text, no code, and the scaler with the rest.

with TemporaryDirectory() as folder:
    save_model(pipeline, Path(folder) / "moons.model")
    loaded = load_model(Path(folder) / "moons.model")
print("the same labels:", bool((loaded.predict(new) == labels).all()))

# %%
# The plane, cell by cell
# -----------------------
# Every cell is a new sample, the paler the less sure its label is.

side = np.linspace(-1, 1, 70)
cells = np.stack(np.meshgrid(0.5 + 2.2 * side, 0.9 + 2.0 * side), axis=-1).reshape(-1, 2)
memberships = pipeline.predict_proba(cells)
colours = np.array([[0.0, 0.45, 0.70], [0.90, 0.62, 0.0], [0.0, 0.62, 0.45]])
sure = np.clip((memberships.max(axis=1, keepdims=True) - 1 / 3) * 1.5, 0, 1)
shade = 1 - 0.6 * sure * (1 - colours[memberships.argmax(axis=1)])

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.imshow(
    shade.reshape(70, 70, 3), origin="lower", extent=(-1.7, 2.7, -1.1, 2.9), aspect="auto", interpolation="bilinear"
)
ax.scatter(*X.T, c=colours[pipeline[-1].labels_], s=12, edgecolor="white", linewidth=0.3)
ax.set_title("Fitted samples, and the cluster of every new one", loc="left")
ax.set(xticks=[], yticks=[])
plt.show()
