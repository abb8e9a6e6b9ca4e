"""Algorithm 1: the step, the closed form, thresholding, kernel weights."""
