"""
Sequences, by kernels of your own
=================================

*My samples are no rows of numbers, but I can say how alike two of them are.* Kernels that were computed elsewhere, of
sequences, graphs or molecules, are clustered with ``kernels="precomputed"``.
"""

# %%
# Sequences
# ---------
# 180 simulated sequences of DNA of three families. A family is an ancestor; its members have lost and gained letters,
# so that positions cannot be compared.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np

from kernelbraid import ADMM, LKG
from kernelbraid.metrics import accuracy
from kernelbraid.plotting import plot_embedding, plot_kernel_weights

rng = np.random.default_rng(0)


def descend(ancestor):
    """Return a sequence like another one, with letters replaced, lost and gained."""
    letters = []
    for letter in ancestor:
        fate = rng.random()
        if fate > 0.12:
            letters.append(letter if fate > 0.35 else rng.choice(list("ACGT")))
        if fate > 0.88:
            letters.append(rng.choice(list("ACGT")))
    return "".join(letters)


ancestors = ["".join(rng.choice(list("ACGT"), 120)) for _ in range(3)]
families = np.repeat([0, 1, 2], 60)
sequences = [descend(ancestors[family]) for family in families]
print(*(sequence[:60] for sequence in sequences[:3]), sep="\n")

# %%
# A kernel for every length
# -------------------------
# The spectrum kernel compares how often each word of some letters occurs. Short words are in all sequences, long ones
# in few. Which length is right, nobody has to know: all of them are candidates.


def spectrum_kernel(length):
    """Return the inner products of the counts of words, each sequence scaled to unit length."""
    words = {}
    rows = [[words.setdefault(s[i : i + length], len(words)) for i in range(len(s) - length + 1)] for s in sequences]
    counts = np.array([np.bincount(row, minlength=len(words)) for row in rows], dtype=float)
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    return counts @ counts.T


lengths = [1, 2, 3, 4, 5, 6, 8]
kernels = np.stack([spectrum_kernel(length) for length in lengths])
print("kernels:", kernels.shape)

# %%
# One by one, and together
# ------------------------
# A stack of shape (n_kernels, n, n) comes from one source; with a solver the weights are learned.

options = {"kernels": "precomputed", "random_state": 0}
for length, kernel in zip(lengths, kernels, strict=True):
    labels = LKG(3, **options).fit_predict(kernel)
    print(f"words of {length} letters: accuracy {accuracy(families, labels):.3f}")
model = LKG(3, solver=ADMM(), **options).fit(kernels)
print(f"all of them:        accuracy {accuracy(families, model.labels_):.3f}")

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
plot_kernel_weights(model, ax=axes[0])
axes[0].set_yticks(range(len(lengths)), [f"words of {length}" for length in lengths])
plot_embedding(model, layout="graph", ax=axes[1])
plt.show()

# %%
# New sequences need their kernel values with the fitted ones, one row each, in every kernel.

again = model.predict(kernels[:, :5])
print("labels of five fitted sequences, placed anew:", again.tolist(), model.labels_[:5].tolist())
