"""Adam (Kingma and Ba, 2015) over a whole Parameters object, and clipping by the global norm. Notebook 04."""

from dataclasses import dataclass

import numpy as np

from kernels.adam import adam

from ..model.parameters import Parameters, named_arrays, zeros_like

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


@dataclass
class Adam:
    """The moments of the gradient so far, and how many updates there were."""

    m: Parameters
    v: Parameters
    n_updates: int = 0

    @classmethod
    def for_parameters(cls, params):
        return cls(zeros_like(params), zeros_like(params))

    def update(self, params, grads, learning_rate, map=map):
        """One step: params -= learning_rate * m_hat / (sqrt(v_hat) + eps). `map` may spread the arrays over threads."""
        self.n_updates += 1
        t = self.n_updates
        # m_hat = m / (1 - beta1^t) and v_hat = v / (1 - beta2^t), both moved into the step size and eps
        root = float(np.sqrt(1 - BETA2**t))
        rate, eps = learning_rate * root / (1 - BETA1**t), EPS * root

        def update_array(*named):
            p, g, m, v = (array.reshape(-1) for _, array in named)
            adam(p, g, m, v, rate, BETA1, BETA2, eps)

        list(map(update_array, *(named_arrays(tree) for tree in (params, grads, self.m, self.v))))


def global_norm(grads):
    """The Euclidean norm of all gradients together."""
    return float(np.sqrt(sum(float(np.dot(a.reshape(-1), a.reshape(-1))) for _, a in named_arrays(grads))))


def clip_gradients(grads, limit):
    """Scale all gradients so that their global norm is at most `limit` (0 = no limit); return the norm before."""
    norm = global_norm(grads)
    if limit and norm > limit:
        for _, array in named_arrays(grads):
            array *= limit / norm
    return norm
