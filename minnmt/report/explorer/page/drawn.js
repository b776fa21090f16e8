// Pictures and tables of single stages, and a stage that is open.

function softmaxProse(at) {
  const full = at.full[0].word;
  if (!at.trace.lists) return `Every word of the vocabulary gets a probability.${goesOn(at)}`;
  const list = at.listed[0].word;
  const best =
    full === list
      ? `Both rank "${at.trace.spell(full)}" first.`
      : `All words: "${at.trace.spell(full)}"; the list: "${at.trace.spell(list)}". ` +
        (at.trace.listed(full, at.n) ? "" : `"${at.trace.spell(full)}" is not in the list.`);
  return `The list keeps ${percent(at.kept)} of the probability and divides by it. ${best}${goesOn(at)}`;
}

// What the search chose, where that is not the best word.
function goesOn(at) {
  const best = (at.which === "list" ? at.listed : at.full)[0].word;
  if (at.chosen === best) return "";
  const why = at.t <= at.trace.forced.length ? "it was forced by hand" : "a beam looks further than one word";
  return ` The search goes on with "${at.word}": ${why}.`;
}

function drawSoftmax(at) {
  const row =
    (which) =>
    ({ word, p }) => {
      const inside = !at.trace.lists || at.trace.listed(word, at.n);
      return {
        label: at.trace.spell(word),
        share: p,
        text: p < 0.0005 ? p.toExponential(0) : p.toFixed(3),
        now: word === at.chosen,
        look: which === "list" ? "list" : inside ? "plain" : "missing",
        key: `${which}-${word}`,
        act: () => askWord(word),
        note: which === "full" && !inside ? at.trace.whyMissing(word) : "",
      };
    };
  if (!at.trace.lists) return [bars("all words (12)", at.full.map(row("full")), roomFor())];
  const notes = at.trace.limits.min_prob ? 130 : 100,
    same = roomFor() > 600 ? notes : 0; // the list has none, but beside each other both have the same scale
  return [
    el(
      "div",
      { class: "pair" },
      el(
        "div",
        {},
        bars(`all ${many(at.size.trg_words)} words (12)`, at.full.map(row("full")), roomFor(0.5), 120, notes),
      ),
      el(
        "div",
        {},
        bars(`the list of ${many(at.trace.listSize(at.n))} (21)`, at.listed.map(row("list")), roomFor(0.5), 120, same),
      ),
    ),
  ];
}

function drawChoice(at) {
  const [kept, pruned] = at.search.rounds[at.t - 1] ?? [[], []],
    most = roomFor() > 600 ? 8 : 4;
  const row = (state) => (node) => {
    const words = at.trace.way(node).map((each) => at.trace.spell(at.trace.word(each))),
      ended = at.trace.word(node) === EOS;
    return el(
      "tr",
      {},
      el(
        "td",
        { class: "left" },
        `${words.length > most ? "\u2026 " : ""}${words.slice(-most, -1).join(" ")} `,
        wordButton(at.trace.word(node), node === at.node ? "now" : ""),
      ),
      el("td", {}, at.trace.logp(node, at.which, at.n).toFixed(3)),
      el("td", {}, at.trace.score(node, at.which, at.n).toFixed(4)),
      el(
        "td",
        { class: "left" },
        node === at.node ? "goes on to win" : state === "kept" ? (ended ? "ended" : "kept") : "pruned",
      ),
    );
  };
  return [
    scrolled(
      { class: "choice-table" },
      el(
        "tr",
        {},
        ["hypothesis", "sum of ln p", "score", ""].map((name, k) =>
          el("th", { class: k % 3 === 0 ? "left" : "" }, name),
        ),
      ),
      kept.map(row("kept")),
      pruned.map(row("pruned")),
    ),
  ];
}

// The best candidates of every source unit
function drawRows(at) {
  const seen = new Set();
  return scrolled(
    {},
    el(
      "tr",
      {},
      ["unit", "the best of them", "brings", "candidates"].map((name, k) =>
        el("th", { class: k < 2 ? "left" : "" }, name),
      ),
    ),
    at.trace.lists.counts.rows.map((row) => {
      const brings = at.trace.brings(row, at.n).map((link) => link.word);
      const first = brings.filter((word) => !seen.has(word)).length;
      brings.forEach((word) => seen.add(word));
      return el(
        "tr",
        {},
        el("td", { class: "left" }, sourceWord(at.trace.ids.indexOf(row.id))),
        el(
          "td",
          { class: "left" },
          brings.slice(0, roomFor() > 600 ? 6 : 3).map((word) => wordButton(word)),
        ),
        el("td", {}, `${many(brings.length)}${first < brings.length ? `, ${many(first)} new` : ""}`),
        el("td", {}, many(row.size)),
      );
    }),
  );
}

// What the colours of a vector mean
function legend() {
  return [
    [-1, "-1"],
    [-0.4, "-0.4"],
    [0, "0"],
    [0.4, "0.4"],
    [1, "1"],
  ].map(([x, text]) => el("span", { class: "colour" }, swatch(x), text));
}

// One stage, open
function stageInside(stage, at) {
  const lines = stage.formula.split("\n").filter((line) => line && (at.trace.lists || !line.includes("the list"))),
    wide = Math.max(...lines.map((line) => line.length), 0);
  const width = roomFor(),
    vectors = stage.vectors && at.step.y && stage.vectors(at, at.step);
  return el(
    "div",
    { class: "inside" },
    el("p", { class: "prose" }, stage.prose(at)),
    lines.length > 0 &&
      el(
        "div",
        { class: "formula", role: "math" },
        lines.map((line, k) => [`${line.padEnd(wide)}   `, el("i", {}, stage.numbers?.[k] ?? ""), "\n"]),
      ),
    stage.shapes(at) && el("p", { class: "shapes" }, `shapes: ${stage.shapes(at)}`),
    stage.vectors &&
      !vectors &&
      el("p", { class: "shapes" }, "Few values of n lead here: the vectors of this step are not in the page."),
    (vectors || stage.legend) && el("p", { class: "shapes" }, "vectors: ", ...legend()),
    vectors && vectors.map(([name, about, packed]) => strip(name, about, packed, width)),
    stage.draw && stage.draw(at),
  );
}
