"""
On a GPU
========

*How do I use a GPU, and is it worth it?* One argument, ``device="cuda"``. What needs a GPU is shown here and not run;
the rest runs on any machine.
"""

# %%
# One argument
# ------------
# With PyTorch built for CUDA, samples go to the device, everything up to k-means is computed there, and results come
# back as NumPy arrays:
#
# .. code-block:: python
#
#    model = LKG(n_clusters=10, device="cuda", random_state=0).fit(X)
#    model.labels_  # a NumPy array
#
# Tensors are used where they are, and results are tensors beside them:
#
# .. code-block:: python
#
#    X = torch.as_tensor(X, device="cuda")
#    model = LKG(n_clusters=10, random_state=0).fit(X)
#    model.labels_.device  # device(type='cuda', index=0)
#
# A fit that does not fit on the device is refused before anything is allocated, with the memory that it would take.
# Many settings over the same kernels are solved as one batch:
#
# .. code-block:: python
#
#    from dataclasses import replace
#    from kernelbraid.learning import PRESETS, Views, learn_many
#
#    candidates = Views([torch.as_tensor(X, device="cuda")]).pose("rmkkm", stored=True)
#    settings = [replace(PRESETS["authors"].learning, gamma=1.0, mu=mu) for mu in (0.1, 0.3, 1.0, 3.0)]
#    found = learn_many(candidates, settings)

# %%
# The same labels
# ---------------
# A device changes where a fit is computed, and not what comes out. This line takes the GPU where there is one, and
# otherwise computes on the CPU.

import time

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kernelbraid import ADMM, LKG
from kernelbraid.metrics import ari

try:
    import torch

    device = "cuda" if torch.cuda.is_available() else None
except ImportError:
    device = None

X, y = load_digits(return_X_y=True)
X = normalize(X)
model = LKG(10, device=device, random_state=0).fit(X[:500])
print(f"device {device}: adjusted Rand index {ari(y[:500], model.labels_):.3f}")

# %%
# Is it worth it?
# ---------------
# The work grows with the cube of the number of samples. Here is what it takes where you read this from; a GPU pays
# where a fit takes minutes, or where kernels are learned. :doc:`/scale` tells more.

sizes, seconds = [100, 200, 400, 800, 1600], {"graph alone": [], "kernel learned": []}
for n in sizes:
    for name, solver in {"graph alone": None, "kernel learned": ADMM()}.items():
        if n > 400 and solver:
            continue  # a few seconds are enough for an example
        start = time.perf_counter()
        LKG(10, solver=solver, device=device, n_init=1, random_state=0).fit(X[:n])
        seconds[name].append(time.perf_counter() - start)
        print(f"{n:5d} samples, {name}: {seconds[name][-1]:.2f} s")

fig, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
for (name, values), colour in zip(seconds.items(), ("#0072B2", "#E69F00"), strict=True):
    ax.loglog(sizes[: len(values)], values, "o-", color=colour, label=name)
ax.set(title=f"A fit on {device or 'the CPU'}", xlabel="samples", ylabel="seconds")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
