"""The learner `nystrom`: features from landmarks, sums, joint training."""
