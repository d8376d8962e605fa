"""Benchmarks: `python -m bench` (README.md says what is measured and how to read it)."""
