"""The explorer: one translation, step by step, as one HTML page that needs nothing else."""
