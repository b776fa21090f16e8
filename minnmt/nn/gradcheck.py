"""Is a hand-written backward right? Compare it with central differences, one number at a time.

Run in float64: with a step of 1e-5 the comparison is good to about ten digits. Taught in notebook 01.
"""

import numpy as np


def numerical_gradient(f, x, eps=1e-5):
    """f: a function without arguments that reads x; x any array -> df/dx of the same shape."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        old = x[i]
        x[i] = old + eps
        above = f()
        x[i] = old - eps
        below = f()
        x[i] = old
        grad[i] = (above - below) / (2 * eps)
    return grad


def relative_error(a, b):
    """The largest difference of a and b, relative to the largest value in them.

    The scale is at least 1e-3: where the true gradient is 0, differences give noise of about 1e-10.
    """
    scale = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0), 1e-3)
    return float(np.abs(a - b).max(initial=0) / scale)


def check_gradients(f, arrays, grads, tolerance=1e-6):
    """Check every grads[name] against the differences of f with respect to arrays[name].

    Say that all are right, or which one is wrong.
    """
    for name, x in arrays.items():
        expected = numerical_gradient(f, x)
        error = relative_error(grads[name], expected)
        if not error < tolerance:
            raise AssertionError(
                f"gradient of {name}: relative error {error:.2e}, "
                f"by hand {np.ravel(grads[name])[:4]}, by differences {np.ravel(expected)[:4]}"
            )
    print(f"gradients of {', '.join(arrays) if len(arrays) < 10 else f'{len(arrays)} arrays'}: right")
