"""The interface for Python programs: functions on arrays and tables, and an estimator."""
