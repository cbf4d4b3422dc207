"""Learners: training of one classifier from one job."""
