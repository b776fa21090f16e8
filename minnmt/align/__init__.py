"""Alignments: attention counts, candidate lists, statistical aligners, exchange formats, word links.

Notebooks 06 and 07.
"""
