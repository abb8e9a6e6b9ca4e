"""
Many samples
============

Cluster more samples than a matrix of all pairs can hold with :class:`~kernelbraid.LKG`, label samples that come later,
and keep the model in a file.
"""

# %%
# Data
# ----
# Two groups of three rings each, with a little noise in 64 features. k-means cannot separate rings. The samples come in
# blocks, which are gone through once.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans

from kernelbraid import LKG, Blocks, load_model, save_model
from kernelbraid.metrics import evaluate

N_BLOCKS, ROWS = 5, 4000


def draw_block(seed):
    """Return samples and the ring of each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(6, size=ROWS)
    angle, radius = rng.uniform(0, 2 * np.pi, ROWS), 1 + 2 * (y % 3) + rng.normal(0, 0.12, ROWS)
    X = rng.normal(0, 0.02, (ROWS, 64)).astype(np.float32)
    X[:, 0] += radius * np.cos(angle) + 12 * (y // 3)
    X[:, 1] += radius * np.sin(angle)
    return X, y


class Rings:
    """Samples that are made block by block, as a file would be read."""

    def __iter__(self):
        for seed in range(N_BLOCKS):
            yield draw_block(seed)[0]


y = np.concatenate([draw_block(seed)[1] for seed in range(N_BLOCKS)])

# %%
# Fit
# ---
# Above 2,000 samples, rows of the graph are formed block by block.

model = LKG(6, random_state=0).fit(Blocks(Rings()))
kmeans = MiniBatchKMeans(n_clusters=6, n_init=10, random_state=0).fit(np.concatenate(list(Rings())))
for name, labels in (("LKG", model.labels_), ("k-means", kmeans.labels_)):
    print(f"{name:8} ARI {evaluate(y, labels)['ari']:.3f}")

# %%
# The samples by cluster.

fig, axes = plt.subplots(1, 2, figsize=(11, 2.9), layout="constrained", sharex=True, sharey=True)
shown = draw_block(0)[0]
for ax, title, labels in zip(axes, ("LKG", "k-means"), (model.labels_, kmeans.labels_), strict=True):
    ax.scatter(shown[:, 0], shown[:, 1], c=labels[:ROWS], s=3, cmap="Set2", linewidths=0)
    ax.set_title(title, loc="left")
    ax.set_aspect("equal")
    ax.axis("off")
# %%
# New samples
# -----------
# They are labelled by their edges to the fitted ones. A model can be kept: the file holds numbers and text, no code.

with TemporaryDirectory() as folder:
    save_model(model, Path(folder) / "rings.model")
    loaded = load_model(Path(folder) / "rings.model")
new, ring = draw_block(N_BLOCKS)
print(f"new samples: ARI {evaluate(ring, loaded.predict(new))['ari']:.3f}")
