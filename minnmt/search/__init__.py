"""Search: the best translations of sentences, and the way from raw lines to raw lines.

To read: greedy.py, then beam.py, one sentence at a time. What is fast: batch_beam.py searches for a batch, fast.py
takes the network's steps, stages.py has what lies between the products, packed.py the products. translate.py uses
either. verified.py and batch_verified.py make lists lose nothing, selectors.py has all that chooses words. Notebooks
05, 08 and 10.
"""
