"""
Which view to trust
===================

*I have five descriptions of my samples, and some may be worthless. Which?* Views that find the same neighbours are
trusted; the others are named and left out.
"""

# %%
# Five views
# ----------
# Two views see the five groups of 300 samples. The third is the first in other units. The fourth is noise. The fifth
# has clear clusters, but of something else: the batch in which a sample was measured.

import warnings

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, EachView
from kernelbraid.metrics import ari
from kernelbraid.plotting import plot_views

rng = np.random.default_rng(0)
groups, batches = rng.integers(5, size=300), rng.integers(3, size=300)


def see(what, n_features, spread):
    """Return features whose means follow what is seen."""
    return rng.normal(scale=spread, size=(what.max() + 1, n_features))[what] + rng.normal(size=(300, n_features))


shape, size = see(groups, 10, 1.2), see(groups, 20, 0.8)
names = ["shape", "size", "inches", "noise", "batch"]
views = [shape, size, shape / 2.54, rng.normal(size=(300, 15)), see(batches, 10, 2.0)]
views = EachView(StandardScaler()).fit_transform(views)

# %%
# What the fit says
# -----------------
# The warning names the views that are left out. It needs no labels: neighbours are compared, and what chance would
# have two views share is known.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = LKG(5, random_state=0).fit(views)
print(caught[0].message)

# %%
# The report has a reason for every view. The copy counts once, together with its original. ``clarity`` says how clear
# the clusters of a view are by themselves. That does not decide: batches are clear, and still not trusted.

for name, view in model.views_.to_frame().set_axis(names).iterrows():
    print(f"{name:7} weight {view.weights:.2f}, clarity {view.clarity:.2f}: {view.why}")

fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
plot_views(model, names=names, ax=ax)
plt.show()

# %%
# Was that right?
# ---------------
# Beside it: every view trusted alike, and the features of all views side by side.

side_by_side = LKG(5, random_state=0).fit_predict(np.hstack(views))
alike = LKG(5, view_weights=[1, 1, 1, 1, 1], random_state=0).fit_predict(views)
for name, labels in {"trusted views": model.labels_, "all alike": alike, "side by side": side_by_side}.items():
    print(f"{name:14} adjusted Rand index {ari(groups, labels):.3f}")

# %%
# If you know better
# ------------------
# A view that is right alone cannot be told from one that is wrong alone. ``view_weights`` gives another answer, here
# for somebody who is after the batches.

batch_labels = LKG(3, view_weights=[0, 0, 0, 0, 1], random_state=0).fit_predict(views)
print(f"batches: adjusted Rand index {ari(batches, batch_labels):.3f}")
