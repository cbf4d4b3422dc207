"""Programs that users name: trainers, predictors, converters."""
