"""The learner `nystrom`: features from landmarks, gradients, sums, joint training."""
