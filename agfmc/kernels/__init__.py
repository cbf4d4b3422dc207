"""Kernel values in blocks, the kernel machine."""
