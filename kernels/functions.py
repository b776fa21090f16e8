"""Functions that the compiler can vectorise: the C library's tanh, called once per number, it cannot. Notebook 08."""

import numpy as np

from .jit import device_function

# Python's own numbers would make a float32 a float64.
ZERO, HALF, ONE, LOW = np.float32(0), np.float32(0.5), np.float32(1), np.float32(-np.inf)

# tanh(x) = x P(x^2) / Q(x^2), a rational approximation good to a few units in the last place of float32; beyond the
# limit it stays at 1 - 2.4e-7.
LIMIT = np.float32(7.90531110763549805)
P0, P1, P2, P3, P4, P5, P6 = np.float32([
    4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08,
    -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16,
])  # fmt: skip
Q0, Q1, Q2, Q3 = np.float32([4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06])


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


# exp(x) = 2^n exp(r) with n = round(x / ln 2) and a polynomial for exp(r), |r| < ln 2 / 2; ln 2 in two parts, so that
# x - n ln 2 keeps its digits.
LOG2_E = np.float32(1.44269504088896)
LN2_HIGH, LN2_LOW = np.float32([0.693359375, -2.12194440054690e-04])
E2, E3, E4 = np.float32([5.00000012e-01, 1.66666655e-01, 4.16657959e-02])
E5, E6, E7 = np.float32([8.33345191e-03, 1.39819995e-03, 1.98756915e-04])
LOWEST = np.float32(-87)  # below it the result would have no exponent left


@device_function
def exp(x):
    """exp of a float32 that is not above 88; below -87 it stays at 1.6e-38."""
    x = max(x, LOWEST)
    n = np.floor(x * LOG2_E + HALF)
    r = x - n * LN2_HIGH - n * LN2_LOW
    p = E2 + r * (E3 + r * (E4 + r * (E5 + r * (E6 + r * E7))))
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)  # 2^n, by its exponent's bits
    return (ONE + r + r * r * p) * power


# The bits of a float32 below its sign. The compiler vectorises the maximum of whole numbers, but not that of floats,
# where it matters on which side a nan stands. Floats are in the order of their bits; negative ones in reverse.
MAGNITUDE = np.int32(0x7FFFFFFF)


@device_function
def largest_of(x):
    """The largest number; a nan above all others."""
    bits, most = x.view(np.int32), np.int32(-(2**31))
    for i in range(len(bits)):
        most = max(most, np.int32(bits[i] ^ ((bits[i] >> np.int32(31)) & MAGNITUDE)))
    return np.int32(most ^ ((most >> np.int32(31)) & MAGNITUDE)).view(np.float32)


@device_function
def largest_magnitude(x):
    """Without its sign; a nan above all others."""
    bits, most = x.view(np.int32), np.int32(0)
    for i in range(len(bits)):
        most = max(most, np.int32(bits[i] & MAGNITUDE))
    return np.int32(most).view(np.float32)


@device_function
def softmax(x, largest):
    """In place, with the largest of the numbers -> the sum of all exp(x - largest)."""
    total = ZERO
    for i in range(len(x)):
        x[i] = exp(x[i] - largest)
        total += x[i]
    for i in range(len(x)):
        x[i] /= total
    return total
