"""Evaluations of a running service, and the form in which they and the benchmarks report."""
