"""Algorithm 1: the step, the kernel that stays, the closed form, thresholding, kernel weights."""
