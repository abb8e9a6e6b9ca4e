"""
Writing a kernel
================

*I know how alike my samples are, and no ready kernel says so.* A kernel is a function of two matrices that returns
their values; it joins a bank beside ready ones, and places new samples, too.
"""

# %%
# Profiles over the hours of a day
# --------------------------------
# 240 simulated customers with a count of visits for every hour. Three habits: morning, evening, twice a day. How many
# visits there are says nothing, and neither does an hour earlier or later.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.metrics.pairwise import chi2_kernel

from kernelbraid import ADMM, LKG
from kernelbraid.kernels import Custom, Gaussian, Linear
from kernelbraid.metrics import accuracy
from kernelbraid.plotting import plot_kernel_weights

rng = np.random.default_rng(0)
hours = np.arange(24)
habits = rng.integers(3, size=240)


def bump(centre):
    """Return how likely a visit is at every hour, around one of them."""
    away = np.minimum(np.abs(hours - centre), 24 - np.abs(hours - centre))
    return np.exp(-(away**2) / 3.0)


def customer(habit):
    """Return visits by hour."""
    early, late = rng.normal(8, 1.2), rng.normal(19, 1.2)
    rate = [bump(early), bump(late), (bump(early) + bump(late)) / 2][habit] + 0.05
    return rng.poisson(rng.lognormal(2.5, 0.6) * rate / rate.sum())


X = np.array([customer(habit) for habit in habits], dtype=float)
fig, axes = plt.subplots(1, 3, figsize=(8.4, 3.2), layout="constrained", sharey=True)
for habit, (ax, name) in enumerate(zip(axes, ("morning", "evening", "twice a day"), strict=True)):
    ax.bar(hours, X[habits == habit].mean(axis=0), color="#0072B2")
    ax.set(title=name, xlabel="hour")
axes[0].set_ylabel("mean visits")
plt.show()

# %%
# The kernel
# ----------
# The distance between two days is how much of one has to be moved, and how far, to make the other: the area between
# their cumulative shares. The smaller it is, the larger the value. A function of this kind is all there is to write:
# rows of ``X`` by rows of ``Y``, symmetric, and with a diagonal of one, as the ready kernels have it.


def moved_hours(X, Y):
    """Return exp(-d / 2), where d hours have to be moved to make one day of the other."""
    first, second = (np.cumsum((A + 1e-9) / (A + 1e-9).sum(axis=1, keepdims=True), axis=1) for A in (X, Y))
    return np.exp(-np.abs(first[:, None] - second[None]).sum(axis=2) / 2)


# %%
# A bank with it
# --------------
# ``Custom`` gives a function a name. Functions of scikit-learn fit in as they are.

banks = {
    "ready kernels": [Linear(), Gaussian(0.1), Gaussian(1.0)],
    "chi squared of scikit-learn": [chi2_kernel],
    "ours alone": [moved_hours],
    "all of them": [Linear(), Gaussian(0.1), Gaussian(1.0), chi2_kernel, Custom(moved_hours, "moved hours")],
}
for name, bank in banks.items():
    print(f"{name:28} accuracy {accuracy(habits, LKG(3, kernels=bank, random_state=0).fit_predict(X)):.3f}")

# %%
# With a solver weights are learned. They say what the consensus kernel is made of, and not which kernel is
# best.

model = LKG(3, kernels=banks["all of them"], solver=ADMM(), random_state=0).fit(X)
print(f"weights learned: accuracy {accuracy(habits, model.labels_):.3f}")
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
plot_kernel_weights(model, ax=ax)
plt.show()
# sphinx_gallery_thumbnail_number = 1

# %%
# New customers
# -------------
# The function is called with new samples and fitted ones.

new = np.array([customer(habit) for habit in (0, 1, 2)], dtype=float)
own = LKG(3, kernels=[moved_hours], random_state=0).fit(X)
main = [int(np.bincount(habits[own.labels_ == label]).argmax()) for label in own.predict(new)]
print("habits of three new customers:", main)
