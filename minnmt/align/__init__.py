"""Alignments: attention counts, candidate lists, statistical aligners, exchange formats, word links."""
