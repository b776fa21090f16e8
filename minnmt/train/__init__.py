"""Training: settings, Adam, the loop with validation, and checkpoints that survive a kill at any moment.

Notebook 04.
"""
