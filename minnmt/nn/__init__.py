"""Hand-written layers: each file holds a few `*_forward` functions, each right above its `*_backward`.

Conventions, the same in every file:
- a forward returns its outputs and a cache (a NamedTuple with what the backward reads, nothing more);
- a backward takes the gradients of those outputs and the cache, returns the gradients of the inputs in the
  forward's order, and adds parameter gradients into `g`, a gradient object of the same dataclass as `p`;
- inside a recurrent step the backward leaves the weights' gradients to its caller, who has all time steps and needs
  one product for each weight (`*_add_weight_grads`); its docstring says what it returns for that;
- row vectors, time first. Sizes: B sentences, S/T source/target length, E embedding, H hidden, C = 2H,
  V vocabulary, K candidates, N = T*B rows. Masks are float, 1 = a real word.
"""
