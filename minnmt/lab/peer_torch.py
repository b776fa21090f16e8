"""The same network in PyTorch, to compare speeds with: same weights, same search, same updates. Needs torch.

Eager mode, written to be fast. Products that share an input are one product, with weights put together once; what
needs no earlier state is computed for all time steps at once; the hypotheses of all sentences are rows of one batch.
The context c = sum_i alpha_i h_i is only used in products, and c W = sum_i alpha_i (h_i W): so the annotations are
multiplied, once for each sentence, instead of c at every step.

Left out: dropout, n-best lists, attention as output, a length penalty other than 1.0. The caller sets the number of
threads (torch.set_num_threads).
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from ..text.batches import pad
from ..text.vocab import EOS

INF = float("inf")
LOSS_ROWS = 512  # words at a time in the softmax of training, a few per cent faster than all at once


class Memory(NamedTuple):
    """What the decoder may look at, sentence first."""

    h_proj: torch.Tensor  # (A,S,C) annotations h W_h
    values: torch.Tensor  # (A,S,3H+E) h times what the context is multiplied with in the second cell and the readout
    mask: torch.Tensor  # (A,1,S) 0 for a word, -inf for padding: added to the energies

    def keep(self, sentences):
        return Memory(*(tensor[sentences] for tensor in self))


class Listed(NamedTuple):
    """The words each sentence may use, with their rows of the output layer, filled up with words of bias -inf."""

    ids: torch.Tensor  # (A,M)
    W: torch.Tensor  # (A,M,E)
    b: torch.Tensor  # (A,1,M)

    def keep(self, sentences):
        return Listed(*(tensor[sentences] for tensor in self))

    def logits(self, o):
        """o (A*K,E) -> (A*K,M)."""
        return torch.baddbmm(self.b, o.view(len(self.W), -1, o.shape[1]), self.W.mT).flatten(0, 1)


class PackedLists(NamedTuple):
    """The same in 8 bits, a packed layer for each sentence; beyond a list's end stands what has a bias of -inf."""

    ids: torch.Tensor  # (A,M)
    layers: list

    def keep(self, sentences):
        chosen = sentences.nonzero()[:, 0].tolist()
        return PackedLists(self.ids[sentences], [self.layers[a] for a in chosen])

    def logits(self, o):
        rows = o.view(len(self.layers), -1, o.shape[1])
        return torch.cat([linear_dynamic(x, layer) for x, layer in zip(rows, self.layers)])


class TorchNetwork(nn.Module):
    """minnmt's network with its own copies of the weights; W (M,D) has a row for each output."""

    def __init__(self, params, lr=5e-4):
        super().__init__()
        gru, attention, cell, readout = params.decoder_gru, params.attention, params.decoder_cell, params.readout
        self.lr, self.optimizer = lr, None
        self.src_embedding = weight(params.src_embedding)
        self.trg_embedding = weight(params.trg_embedding)
        self.encoder = bidirectional_gru(params.encoder_forward, params.encoder_backward)
        self.start_W, self.start_b = weight(params.start.W.T), weight(params.start.b)
        self.h_W = weight(attention.W_h.T, cell.W.T, cell.Wx.T, readout.W_c.T)
        self.y_W, self.y_b = weight(gru.W.T, gru.Wx.T, readout.W_y.T), weight(gru.b, gru.bx, readout.b_y)
        self.s_W = weight(gru.U.T, gru.Ux.T)
        # attention's bias is added on the state's side, which has other biases already
        self.s1_W = weight(attention.W_s.T, cell.U.T, cell.Ux.T)
        self.s1_b = weight(attention.b, cell.b, cell.bx)
        self.v, self.v_b = weight(attention.v[None]), weight(attention.v_b)
        self.o_W = weight(readout.W_s.T)
        self.o_b = weight(np.stack([readout.b_s, readout.b_c]))  # two parameters, as in minnmt
        self.softmax_W, self.softmax_b = weight(params.softmax.W), weight(params.softmax.b)

    def linear(self, name, x):
        """x times the weights of this name, and their bias, if they have one."""
        W, b = getattr(self, f"{name}_W"), getattr(self, f"{name}_b", None)
        return product(x, W, b if b is None or b.dim() == 1 else b.sum(0)) if x.dim() == 2 else F.linear(x, W, b)

    def encode(self, src_ids, src_mask):
        """src_ids (S,B), src_mask (S,B), numpy arrays -> s0 (B,H), Memory."""
        x = F.embedding(torch.from_numpy(src_ids), self.src_embedding)
        lengths = torch.from_numpy(src_mask.sum(axis=0).astype(np.int64))
        if (lengths == len(x)).all():
            h = self.encoder(x)[0].transpose(0, 1).contiguous()
        else:  # packed, so that the backward direction begins at each sentence's own end
            packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
            h, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)  # 0 in the padding
        s0 = self.linear("start", h.sum(1) / lengths[:, None]).tanh()
        padding = torch.arange(len(x)) >= lengths[:, None, None]
        mask = torch.zeros(padding.shape, dtype=h.dtype).masked_fill_(padding, -INF)
        C = h.shape[2]
        return s0, Memory(*self.linear("h", h).split([C, len(self.h_W) - C], 2), mask)

    def step(self, y, s, memory):
        """Products y (N,3H+E) of the words before, s (N,H), memory of A sentences, N/A rows each -> s (N,H), c (N,E).

        c is the context's part of the readout.
        """
        A, _, C = memory.h_proj.shape
        H, E = s.shape[1], len(self.o_W)
        s1 = gated(y[:, : 3 * H], self.linear("s", s), s)
        s1_proj, s1_gates = self.linear("s1", s1).split([C, 3 * H], 1)
        hidden = (memory.h_proj[:, None] + s1_proj.reshape(A, -1, 1, C)).tanh_()
        energy = F.linear(hidden, self.v, self.v_b).squeeze(3) + memory.mask
        c_gates, c = (energy.softmax(2) @ memory.values).view(-1, 3 * H + E).split([3 * H, E], 1)
        return gated(c_gates, s1_gates, s1), c

    def readout(self, s, y, c):
        """s (N,H), products y (N,3H+E) of the words before, c (N,E) -> o (N,E)."""
        return (self.linear("o", s) + y[:, -len(self.o_W) :] + c).tanh_()

    def gather(self, lists):
        """A ascending arrays of ids -> Listed."""
        ids = pad_sequence([torch.as_tensor(ids, dtype=torch.int64) for ids in lists], batch_first=True)
        beyond = torch.arange(ids.shape[1]) >= torch.tensor([len(ids) for ids in lists])[:, None]
        return Listed(ids, self.softmax_W[ids], self.softmax_b[ids].masked_fill(beyond, -INF)[:, None])

    def next_word(self, y, s, memory, listed):
        """y (N,E), s (N,H) -> s (N,H), log-probabilities (N,V), or (N,M) over each sentence's list."""
        y = self.linear("y", y)
        s, c = self.step(y, s, memory)
        o = self.readout(s, y, c)
        logits = self.linear("softmax", o) if listed is None else listed.logits(o)
        return s, logits.log_softmax(1)

    @torch.inference_mode()
    def decode(self, sentences, beam, max_length, lists=None):
        """B lists of source ids without eos -> B times (ids without eos, score): the best of minnmt.search.beam.

        `lists`: None or B ascending arrays of target ids, eos in each.
        """
        s, memory = self.encode(*pad(sentences))
        listed = None if lists is None else self.gather(lists)
        y = s.new_zeros(len(s), self.trg_embedding.shape[1])
        search = Search(len(sentences), beam, max_length)
        for t in range(max_length + 1):
            s, logp = self.next_word(y, s, memory, listed)
            rows, words, going = search.extend(t, logp, listed)
            if not going.any():
                break
            if not going.all():
                memory, listed = memory.keep(going), listed and listed.keep(going)
            s, y = s.index_select(0, rows), self.trg_embedding.index_select(0, words)
        return search.best()

    def train_step(self, batch, ids=None):
        """One update from a Batch -> the summed nll. `ids`: None or an ascending array, the words of the softmax."""
        if self.optimizer is None:
            self.requires_grad_(True)
            for bias in self.encoder.bias_hh_l0, self.encoder.bias_hh_l0_reverse:
                bias.requires_grad_(False)  # stays 0: minnmt has no such bias
            trained = [p for p in self.parameters() if p.requires_grad]
            self.optimizer = torch.optim.Adam(trained, self.lr, fused=True)
        nll = self.nll(batch, ids)
        self.optimizer.zero_grad()
        (nll / batch.trg_ids.shape[1]).backward()
        nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self.optimizer.step()
        return nll.item()

    def nll(self, batch, ids=None):
        """Batch -> the negative log-likelihood of all its target words."""
        T, B = batch.trg_ids.shape
        s, memory = self.encode(batch.src_ids, batch.src_mask)
        targets = torch.from_numpy(batch.trg_ids)
        y = F.pad(F.embedding(targets[:-1], self.trg_embedding), (0, 0, 0, 0, 1, 0))  # zeros before the first word
        y = self.linear("y", y)
        states, contexts = [], []
        for y_t in y:
            s, c = self.step(y_t, s, memory)
            states.append(s)
            contexts.append(c)
        real = torch.from_numpy(batch.trg_mask.reshape(-1)).nonzero()[:, 0]  # the padding has no loss
        inputs = (x.index_select(0, real) for x in (torch.cat(states), y.view(T * B, -1), torch.cat(contexts)))
        o, targets = self.readout(*inputs), targets.view(-1)[real]
        W, b = self.softmax_W, self.softmax_b
        if ids is not None:
            ids = torch.as_tensor(ids, dtype=torch.int64)
            W, b, targets = W.index_select(0, ids), b.index_select(0, ids), torch.searchsorted(ids, targets)
        parts = zip(o.split(LOSS_ROWS), targets.split(LOSS_ROWS))
        return sum(F.cross_entropy(F.linear(x, W, b), wanted, reduction="sum") for x, wanted in parts)


class Int8TorchNetwork(TorchNetwork):
    """The same with PyTorch's dynamic quantisation: weights in 8 bits, activations rounded at every product.

    `engine`, of PyTorch's "fbgemm" and "x86", is the one that multiplies. Only for decoding.
    """

    NAMES = ("start", "h", "y", "s", "s1", "o", "softmax")

    def __init__(self, params, engine="fbgemm"):
        super().__init__(params)
        torch.backends.quantized.engine = self.engine = engine
        self.packed = {}
        for name in self.NAMES:
            b = getattr(self, f"{name}_b", None)
            self.packed[name] = packed_layer(getattr(self, f"{name}_W"), b if b is None or b.dim() == 1 else b.sum(0))
        quantised = torch.ao.quantization.quantize_dynamic(nn.Sequential(self.encoder), {nn.GRU}, torch.qint8)
        self.encoder = quantised[0]

    def linear(self, name, x):
        return linear_dynamic(x, self.packed[name])

    def decode(self, *arguments):
        torch.backends.quantized.engine = self.engine  # what is packed now, in lists, must be for the same one
        return super().decode(*arguments)

    def gather(self, lists):
        listed = super().gather(lists)
        return PackedLists(listed.ids, [packed_layer(W, b[0]) for W, b in zip(listed.W, listed.b)])


def packed_layer(W, b=None):
    """W (M,D), b (M) or None -> W in 8 bits, a scale per row, packed for linear_dynamic."""
    scales = (W.abs().amax(1) / 127).clamp_min(1e-12).double()
    rounded = torch.quantize_per_channel(W.detach().contiguous(), scales, torch.zeros(len(W)).long(), 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(rounded, b)


def linear_dynamic(x, layer):
    """x (N,D), rounded to 8 bits -> (N,M)."""
    return torch.ops.quantized.linear_dynamic(x, layer)


class Search:
    """The beams of the sentences still searched (A of them, K places each) and the best ended hypothesis of all B."""

    def __init__(self, n_sentences, beam, max_length):
        self.beam, self.max_length = beam, max_length
        self.active = torch.arange(n_sentences)
        self.logps = torch.zeros((n_sentences, 1), dtype=torch.float64)  # one hypothesis each, the empty one
        self.free = torch.full((n_sentences, 1), beam)  # places that no ended hypothesis holds
        self.ids = torch.zeros((n_sentences, 1, max_length + 1), dtype=torch.int64)
        self.best_score = torch.full((n_sentences,), -INF, dtype=torch.float64)
        self.best_ids = [None] * n_sentences

    def extend(self, t, logp, listed):
        """Step t, logp (A*K,V) -> rows (N) of the states to go on with, their words (N), going (A), which sentences."""
        A, K = self.logps.shape
        if t == self.max_length:
            logp[:, EOS + 1 :] = -INF
        values, words = logp.topk(min(self.beam, logp.shape[1]), 1)
        total = (self.logps[:, :, None] + values.view(A, K, -1)).flatten(1)
        self.logps, chosen = total.topk(min(self.beam, total.shape[1]), 1)
        self.logps.masked_fill_(torch.arange(chosen.shape[1]) >= self.free, -INF)
        parents, words = chosen // values.shape[1], words.view(A, -1).gather(1, chosen)
        if listed is not None:
            words = listed.ids.gather(1, words)
        self.ids = self.ids.gather(1, parents[:, :, None].expand(-1, -1, self.max_length + 1))
        self.ids[:, :, t] = words
        self.collect(t, words == EOS)
        going = self.logps.amax(1) / (self.max_length + 1) > self.best_score[self.active]
        rows = torch.arange(A)[:, None] * K + parents
        if not going.all():
            self.active, self.logps, self.free, self.ids, rows, words = (
                x[going] for x in (self.active, self.logps, self.free, self.ids, rows, words)
            )
        return rows.view(-1), words.view(-1), going

    def collect(self, t, ended):
        """Take the hypotheses `ended` (A,K) out of their beams, and note those that are better than the best so far."""
        scores = self.logps.masked_fill(~ended, -INF) / (t + 1)
        self.free -= scores.isfinite().sum(1, keepdim=True)
        self.logps.masked_fill_(ended, -INF)
        score, place = scores.max(1)
        for a in (score > self.best_score[self.active]).nonzero()[:, 0].tolist():
            b = self.active[a]
            self.best_score[b] = score[a]
            self.best_ids[b] = self.ids[a, place[a], :t].tolist()

    def best(self):
        return list(zip(self.best_ids, self.best_score.tolist()))


def weight(*arrays):
    """numpy arrays -> one parameter, a copy, the arrays below one another; it learns once train_step is called."""
    return nn.Parameter(torch.from_numpy(np.concatenate(arrays)).contiguous(), requires_grad=False)


def bidirectional_gru(forward, backward):
    """Two GRUs of minnmt -> nn.GRU, which has the same equations when its second bias is zero."""
    (E, H), dtype = forward.Wx.shape, torch.from_numpy(forward.Wx).dtype
    gru = nn.GRU(E, H, bidirectional=True, dtype=dtype).requires_grad_(False)
    for p, end in ((forward, ""), (backward, "_reverse")):
        getattr(gru, f"weight_ih_l0{end}").copy_(weight(p.W.T, p.Wx.T))
        getattr(gru, f"weight_hh_l0{end}").copy_(weight(p.U.T, p.Ux.T))
        getattr(gru, f"bias_ih_l0{end}").copy_(weight(p.b, p.bx))
        getattr(gru, f"bias_hh_l0{end}").zero_()
    return gru


def product(x, W, b=None):
    """x (N,D), W (M,D), b (M) or None -> x W^T + b (N,M)."""
    # F.linear does the same, but with the 5 rows of a beam MKL took twice as long for it (on an AMD processor, AVX2)
    if b is None:
        return torch.mm(W, x.t()).t().contiguous()
    return torch.addmm(b[:, None], W, x.t()).t().contiguous()


def gated(outer, inner, s):
    """Products (N,3H) outside and inside the reset, [r, u, candidate]; state s (N,H) -> the new state (N,H)."""
    H = s.shape[1]
    outer_gates, outer_cand = outer.split([2 * H, H], 1)
    inner_gates, inner_cand = inner.split([2 * H, H], 1)
    r, u = (outer_gates + inner_gates).sigmoid_().chunk(2, 1)
    return torch.addcmul(outer_cand, r, inner_cand).tanh_().lerp(s, u)
