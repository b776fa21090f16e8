"""Small functions that several layers share."""

BLOCK = 1 << 19  # numbers of a product that are added up at a time


def flat(x):
    """(T,B,D) -> (T*B,D), so that one matrix product serves all time steps."""
    return x.reshape(-1, x.shape[-1])


def product(x, W):
    """x (...,D), W (D,N) -> (...,N), as one matrix product: numpy's own would be one for each time step."""
    return (x.reshape(-1, x.shape[-1]) @ W).reshape(*x.shape[:-1], W.shape[1])


def add_product(total, a, b):
    """total (M,N) += a^T b for a (R,M), b (R,N): how a weight's gradient is added up over R rows.

    Block by block, so that the product is still in the processor's cache when it is added.
    """
    n_rows = max(1, BLOCK // total.shape[1])
    for start in range(0, len(total), n_rows):
        total[start : start + n_rows] += a[:, start : start + n_rows].T @ b
