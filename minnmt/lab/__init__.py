"""Experiments: benchmarks, the paper's tables and figure, and the same network in PyTorch. Only commands use them."""
