// What a step of the search costs, with all words and with the list.

function costView() {
  const tr = trace(),
    { rest, word } = tr.cost,
    V = tr.variant.trg_words,
    K = tr.lists ? tr.listSize(state.n) : V,
    width = roomFor();
  const pair = (title, full, list, text, less = "less") =>
    el(
      "div",
      {},
      el("h3", {}, title, tr.lists && `: ${(full / list).toFixed(1)} times ${less}`),
      bars(
        "",
        [
          { label: "all words", share: 1, text: text(full), look: "plain" },
          ...(tr.lists ? [{ label: `list, n = ${state.n}`, share: list / full, text: text(list), look: "list" }] : []),
        ],
        width,
        140,
      ),
    );
  const total = (what, words) => rest[what] + words * word[what];
  return [
    el(
      "p",
      { class: "prose" },
      `One step of the search with ${tr.variant.beam} hypotheses. The rest of the network costs the same with every ` +
        "list; a list saves rows of the output layer.",
    ),
    pair("Rows of the output layer that are touched", V, K, (x) => many(x), "fewer"),
    pair("MFLOP of the softmax", V * word.flops, K * word.flops, (x) => (x / 1e6).toFixed(2)),
    pair("MFLOP of the whole step", total("flops", V), total("flops", K), (x) => (x / 1e6).toFixed(2)),
    pair("MB of weights and annotations read, the whole step", total("nbytes", V), total("nbytes", K), (x) =>
      (x / 1e6).toFixed(2),
    ),
    el(
      "p",
      { class: "shapes" },
      `The rest of the network: ${(rest.flops / 1e6).toFixed(2)} MFLOP and ${(rest.nbytes / 1e6).toFixed(2)} MB per step, ` +
        `as much as ${many(Math.round(rest.flops / word.flops))} words of the softmax. ` +
        "Counted from the shapes, as in lesson 08: matrix products, float32.",
    ),
  ];
}
