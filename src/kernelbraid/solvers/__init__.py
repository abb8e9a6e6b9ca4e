"""Everything that iterates: the ADMM of LKG, k-means, and quadratic programs on the simplex."""
