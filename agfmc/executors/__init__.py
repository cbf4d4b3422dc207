"""Executors: where tasks run (threads of this process, other processes, a cluster)."""
