"""A small function that several layers share."""


def flat(x):
    """(T,B,D) -> (T*B,D), so that one matrix product serves all time steps."""
    return x.reshape(-1, x.shape[-1])
