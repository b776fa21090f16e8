"""The textbook: every layer's forward and backward, whole, in plain numpy. The equations are computed here.

Conventions, the same in every file:
- functions come in pairs: `f` or `f_forward`, and right under it `f_backward`, whose blocks open with the forward line
  that they reverse;
- a `*_forward` returns its outputs and a cache, a NamedTuple with what the backward reads and nothing more;
- a backward takes the gradients of the outputs, returns the gradients of the inputs in the forward's order, and adds
  parameter gradients into `g`, an object of the same dataclass as the parameters `p`;
- inside a recurrent step the backward leaves the weights' gradients to its caller, who has all time steps and needs
  one product for each weight (`*_add_weight_grads`); its docstring says what it returns for that;
- row vectors, time first. Sizes: B sentences, S/T source/target length, E embedding, H hidden, C = 2H,
  V vocabulary, K candidates, N rows. Masks are float, 1 = a real word.

`@compiled("file.function")` above a function names its fast counterpart in kernels/ (minnmt/compiled.py says when that
one runs). Numbers in brackets are those of the table of equations in tutorials/README.md.
"""
