"""Training: plan, fit, resume, write."""
