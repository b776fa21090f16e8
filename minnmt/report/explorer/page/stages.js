// The stages of a step: what each computes, in an equation, a sentence and pictures.

// Of the sentence, before the first word
const SOURCE_STAGES = [
  {
    name: "units",
    about: (at) => `${at.trace.units.length} units, eos included`,
    formula: "",
    shapes: (at) => `ids (${at.trace.units.length})`,
    prose: (at) =>
      "The sentence is cut into units that the vocabulary knows; eos ends it. " +
      (at.trace.unknown.length ? "Units that it does not know are read as UNK." : "All of them are known.") +
      " A square \u25AA stands where there was no space, @@ at the end of a unit whose word goes on.",
    draw: (at) => [
      scrolled(
        {},
        el(
          "tr",
          {},
          ["unit", "id", ""].map((name) => el("th", { class: "left" }, name)),
        ),
        at.trace.units.map((unit, i) =>
          el(
            "tr",
            {},
            el("td", { class: "left" }, sourceWord(i)),
            el("td", { class: "left" }, String(at.trace.ids[i])),
            el("td", { class: "left" }, at.trace.unknown.includes(i) ? "unknown, read as UNK" : ""),
          ),
        ),
      ),
    ],
  },
  {
    name: "encoder",
    about: () => "an annotation per unit",
    formula: "[r, u] = sigmoid(x W + b + h U)\nh~ = tanh(x Wx + bx + r * (h Ux))\nh' = u * h + (1 - u) * h~",
    numbers: ["(1)", "(2)", "(3)"],
    shapes: (at) => `x (S,${at.size.embedding}) -> h (S,${2 * at.size.hidden}), S = ${at.trace.units.length}`,
    prose: () =>
      "A GRU reads the sentence from left to right, another from right to left; side by side, their states are the " +
      "annotations h.",
    legend: true,
    draw: (at) => at.trace.start.annotations.map((h, i) => strip(`h${i + 1}`, shown(at.trace.units[i]), h, roomFor())),
  },
  {
    name: "first state",
    about: () => "where the decoder starts",
    formula: "s_0 = tanh(mean_i(h_i) W + b)",
    numbers: ["(4)"],
    shapes: (at) => `mean (1,${2 * at.size.hidden}) -> s_0 (1,${at.size.hidden})`,
    prose: () => "The decoder's first state is made of the mean of all annotations.",
    legend: true,
    draw: (at) => [strip("s0", "the decoder's first state", at.trace.start.s0, roomFor())],
  },
  {
    name: "candidate list",
    about: (at) =>
      at.trace.lists
        ? `${many(at.trace.listSize(at.n))} of ${many(at.size.trg_words)} words at n = ${at.n}`
        : "no counts",
    formula: "list = union of the n best of its words, eos, UNK",
    numbers: ["(20)"],
    shapes: (at) => (at.trace.lists ? `list (${at.trace.listSize(at.n)})` : ""),
    prose: (at) =>
      at.trace.lists
        ? listProse(at)
        : "This model has no counts, so there are no lists: every word competes.",
    draw: (at) => (at.trace.lists ? [drawRows(at)] : []),
  },
];

function listProse({ n, trace: { limits } }) {
  const barred = limits.min_prob ? `, without those below --min-prob ${limits.min_prob}` : "",
    always = limits.frequent ? `eos, UNK and the ${limits.frequent} most frequent words` : "eos and UNK";
  return `Every source unit brings its ${n} best candidates, or all it has${barred}; ${always} are always in.`;
}

// Of every word
const WORD_STAGES = [
  {
    name: "embedding",
    about: (at) => (at.t === 1 ? "zeros: there is no word before" : `of "${at.before}"`),
    formula: "y = the row of the word before",
    shapes: (at) => `y (1,${at.size.embedding})`,
    prose: (at) =>
      at.t === 1
        ? "No word stands before the first one, so y is all zeros."
        : `The word before is "${at.before}": its row of the embedding table is y.`,
    vectors: (at, v) => [["y", at.t === 1 ? "zeros" : `embedding of ${at.before}`, v.y]],
  },
  {
    name: "first cell",
    about: () => "the state takes in the word before",
    formula: "[r, u] = sigmoid(y W + b + s U)\ns~ = tanh(y Wx + bx + r * (s Ux))\ns' = u * s + (1 - u) * s~",
    numbers: ["(1)", "(2)", "(3)"],
    shapes: (at) => `y (1,${at.size.embedding}), s (1,${at.size.hidden}) -> s' (1,${at.size.hidden})`,
    prose: () => "Where u is near 1 the old state s stays; where it is near 0 the candidate s~ takes its place.",
    vectors: (at, v) => [
      ["s", "the state so far", at.state],
      ["r", "reset gate", v.gates1[0]],
      ["u", "update gate: keeps the old state", v.gates1[1]],
      ["s~", "candidate", v.cand1],
      ["s'", "the state between the two cells", v.s1],
    ],
  },
  {
    name: "attention",
    about: (at) => `most on "${at.looksAt}", ${at.most.toFixed(2)}`,
    formula: "e_i = tanh(h_i W_h + b + s' W_s) v + v_b\nalpha = softmax_i(e)",
    numbers: ["(5)", "(6)"],
    shapes: (at) => `s' (1,${at.size.hidden}), h (S,${2 * at.size.hidden}) -> alpha (S), S = ${at.trace.units.length}`,
    prose: (at) =>
      `The state s' is compared with every annotation; it looks most at "${at.looksAt}" (${at.most.toFixed(3)}).`,
    draw: (at) => [
      bars(
        "attention weight alpha, and energy e",
        at.step.alpha.map((alpha, i) => ({
          label: shown(at.trace.units[i]),
          share: alpha,
          text: alpha.toFixed(3),
          look: "list",
          now: alpha === at.most,
          note: at.step.energy && `e = ${at.step.energy[i].toFixed(2)}`,
          key: `source-${i}`,
          act: () => askSource(i),
        })),
        roomFor(),
        120,
        90,
      ),
    ],
  },
  {
    name: "context",
    about: () => "a weighted mean of the annotations",
    formula: "c = sum_i alpha_i h_i",
    numbers: ["(7)"],
    shapes: (at) => `alpha (S), h (S,${2 * at.size.hidden}) -> c (1,${2 * at.size.hidden})`,
    prose: () =>
      "The annotations are added up, each times its weight; here are the three that weigh most, and the sum of all.",
    vectors: (at, v) => [
      ...at.step.alpha
        .map((alpha, i) => [alpha, i])
        .sort((a, b) => b[0] - a[0])
        .slice(0, 3)
        .map(([alpha, i]) => [
          `h${i + 1}`,
          `${shown(at.trace.units[i])}, times ${alpha.toFixed(3)}`,
          at.trace.start.annotations[i],
        ]),
      ["c", "context", v.c],
    ],
  },
  {
    name: "second cell",
    about: () => "the state takes in the context",
    formula: "[r, u] = sigmoid(s' U + b + c W)\ns~ = tanh((s' Ux + bx) * r + c Wx)\ns = u * s' + (1 - u) * s~",
    numbers: ["(8)", "(9)", "(10)"],
    shapes: (at) => `s' (1,${at.size.hidden}), c (1,${2 * at.size.hidden}) -> s (1,${at.size.hidden})`,
    prose: () =>
      "A second cell, with the context in the place of the word, makes the state that the next step will start from.",
    vectors: (at, v) => [
      ["s'", "after the first cell", v.s1],
      ["r", "reset gate", v.gates2[0]],
      ["u", "update gate: keeps s'", v.gates2[1]],
      ["s~", "candidate", v.cand2],
      ["s", "the new state", v.s],
    ],
  },
  {
    name: "readout",
    about: () => "what the softmax sees",
    formula: "o = tanh(s W_s + b_s + y W_y + b_y + c W_c + b_c)",
    numbers: ["(11)"],
    shapes: (at) =>
      `s (1,${at.size.hidden}), y (1,${at.size.embedding}), c (1,${2 * at.size.hidden}) -> o (1,${at.size.embedding})`,
    prose: () => "State, word before and context become one vector of an embedding's size.",
    vectors: (at, v) => [
      ["s", "state", v.s],
      ["y", "word before", v.y],
      ["c", "context", v.c],
      ["o", "readout", v.o],
    ],
  },
  {
    name: "softmax",
    about: (at) =>
      at.trace.lists
        ? `the list keeps ${percent(at.kept)}`
        : `"${at.trace.spell(at.full[0].word)}" ${at.full[0].p.toFixed(3)}`,
    formula: "p = softmax(o W^T + b)\np = softmax over the list alone",
    numbers: ["(12)", "(21)"],
    shapes: (at) =>
      `o (1,${at.size.embedding}), W (${at.size.trg_words},${at.size.embedding}) ` +
      `-> p (${at.size.trg_words})` +
      (at.trace.lists ? `; over the list W (${at.listSize},${at.size.embedding}) -> p (${at.listSize})` : ""),
    prose: softmaxProse,
    draw: drawSoftmax,
  },
  {
    name: "choice",
    about: (at) => `"${at.word}"`,
    formula: "score = sum_t log p_t / length^penalty",
    numbers: ["(17)"],
    shapes: (at) =>
      `sums (${at.live},${at.which === "list" ? at.listSize : at.size.trg_words}) -> at most ${at.size.beam} hypotheses`,
    prose: (at) =>
      at.t <= at.trace.forced.length
        ? `"${at.word}" was forced by hand: every hypothesis goes on with it, whatever its probability.`
        : `Every hypothesis is extended by every word, and the ${at.size.beam} best sums stay. ` +
          `The translation goes on with "${at.word}".`,
    draw: drawChoice,
  },
];

function stagesOf(t) {
  return t === 0 ? SOURCE_STAGES : WORD_STAGES;
}
