"""The control language: text to tree and back."""
