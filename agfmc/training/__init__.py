"""Training: plan, fit, resume, write; held-out decision values."""
