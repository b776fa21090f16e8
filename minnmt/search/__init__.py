"""Search: the best translations of a batch of sentences, and the way from raw lines to raw lines."""
