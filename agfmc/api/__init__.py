"""What Python programs call: functions on arrays and tables, and the scikit-learn estimator."""
