"""Algorithm 1 and its fast routes: the step, the kernel that stays, the closed form, thresholding, kernel weights."""
