"""The translation network made of the layers in minnmt/nn, its parameters, and their file format.

Notebooks 03 and 04.
"""
