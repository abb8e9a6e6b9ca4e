"""Closed forms: proximal operators, projection onto the simplex, spectral embedding, weights from costs."""
