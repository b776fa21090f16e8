"""Elementary functions that the compiler can vectorise: the C library's tanh, called once per number, it cannot."""

import numpy as np

from .jit import device_function

# tanh(x) = x P(x^2) / Q(x^2), a rational approximation good to a few units in the last place of float32; beyond the
# limit it stays at 1 - 2.4e-7.
LIMIT = np.float32(7.90531110763549805)
P0 = np.float32(4.89352455891786e-03)
P1 = np.float32(6.37261928875436e-04)
P2 = np.float32(1.48572235717979e-05)
P3 = np.float32(5.12229709037114e-08)
P4 = np.float32(-8.60467152213735e-11)
P5 = np.float32(2.00018790482477e-13)
P6 = np.float32(-2.76076847742355e-16)
Q0 = np.float32(4.89352518554385e-03)
Q1 = np.float32(2.26843463243900e-03)
Q2 = np.float32(1.18534705686654e-04)
Q3 = np.float32(1.19825839466702e-06)
HALF = np.float32(0.5)


@device_function
def tanh(x):
    """tanh of a float32."""
    x = min(max(x, -LIMIT), LIMIT)
    s = x * x
    p = P0 + s * (P1 + s * (P2 + s * (P3 + s * (P4 + s * (P5 + s * P6)))))
    q = Q0 + s * (Q1 + s * (Q2 + s * Q3))
    return x * p / q


@device_function
def sigmoid(x):
    """1 / (1 + exp(-x)) of a float32."""
    return HALF * tanh(HALF * x) + HALF
