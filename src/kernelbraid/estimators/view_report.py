"""What a fit knows of the views."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ViewReport:
    """What a fit knows of the views, in their order; prints as a table.

    Parameters
    ----------
    names : list of str
        "view 1", "view 2" and so on.
    trusted : ndarray of shape (n_views,)
        Which views count.
    weights : ndarray of shape (n_views,)
        What each counts; sum 1, zero for those that are left out.
    why : list of str
        Why each counts, or does not.
    agreement : ndarray of shape (n_views, n_views)
        Neighbours that two views share, in deviations above what chance gives; NaN where that was not measured.
    n_samples : ndarray of shape (n_views,)
        Samples that each has; NaN where that is not known.
    clarity : ndarray of shape (n_views,)
        Modularity of the clusters that each has alone; NaN where views were not measured.
    shares : ndarray of shape (n_samples, n_views) or None, default=None
        The share of a sample's edges that each view carries, where graphs are fused; rows sum to 1.
    """

    names: list[str]
    trusted: NDArray[np.bool_]
    weights: NDArray[np.float64]
    why: list[str]
    agreement: NDArray[np.float64]
    n_samples: NDArray[np.float64]
    clarity: NDArray[np.float64]
    shares: Any = None

    def __len__(self) -> int:
        """Return the number of views."""
        return len(self.names)

    def entries(self) -> list[dict[str, Any]]:
        """Return a dictionary for each view, with None for what is not known and `agreement` by the other's name."""
        rows = zip(self.names, self.trusted, self.weights, self.why, self.n_samples, self.clarity, strict=True)
        return [
            {
                "name": name,
                "trusted": bool(trusted),
                "weight": float(weight),
                "why": why,
                "agreement": {
                    other: float(z)
                    for other, z in zip(self.names, row, strict=True)
                    if other != name and np.isfinite(z)
                },
                "n_samples": int(n_samples) if np.isfinite(n_samples) else None,
                "clarity": float(clarity) if np.isfinite(clarity) else None,
            }
            for (name, trusted, weight, why, n_samples, clarity), row in zip(rows, self.agreement, strict=True)
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with a row for each view."""
        import pandas as pd

        columns = ("trusted", "weights", "why", "n_samples", "clarity")
        return pd.DataFrame({name: getattr(self, name) for name in columns}, index=pd.Index(self.names, name="view"))

    def __str__(self) -> str:
        """Return the table."""
        cells = [("view", "samples", "weight", "why")]
        for entry in self.entries():
            count = "" if entry["n_samples"] is None else str(entry["n_samples"])
            cells.append((entry["name"], count, f"{entry['weight']:.2f}", entry["why"]))
        widths = [max(len(row[column]) for row in cells) for column in range(3)]
        return "\n".join(
            f"{row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}" for row in cells
        )

    __repr__ = __str__
