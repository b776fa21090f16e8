// Two models, or two lists, side by side.

function sidesView() {
  const sides = traces();
  return [
    el(
      "div",
      { class: "both" },
      sides.map((tr) => sideBox(tr)),
    ),
    el("h3", {}, "The n that each word needs"),
    needTable(sides),
  ];
}

function sideBox(tr) {
  const n = tr.lists ? tr.stop(state.n) : state.n;
  const line = (path) => tr.text(tr.path(path, n));
  const facts = tr.lists ? tr.compare(n) : null;
  return el(
    "div",
    {},
    el("h2", {}, tr.variant.name),
    el("p", {}, el("b", {}, "all words: "), line("full")),
    tr.lists && el("p", {}, el("b", {}, `list, n = ${n}: `), line("list")),
    tr.lists &&
      el(
        "p",
        {},
        `${many(tr.listSize(n))} of ${many(tr.variant.trg_words)} words, keeps ${percent(facts.mean)}; `,
        facts.differs < 0
          ? el("span", { class: "good" }, "the same translation")
          : el("span", { class: "bad" }, `differs from word ${facts.differs + 1} on`),
      ),
    tr.lists
      ? bars(
          "",
          [
            { label: "list", share: tr.listSize(n) / tr.variant.trg_words, text: many(tr.listSize(n)), look: "list" },
            { label: "kept", share: facts.mean, text: percent(facts.mean), look: "plain" },
          ],
          roomFor(0.5) - 60,
          60,
        )
      : el("p", {}, "no counts, so no list"),
  );
}

function needTable(sides) {
  const words = sides.map((tr) => tr.path("full", state.n).map((node) => tr.words[tr.word(node)]));
  const all = [...new Set(words.flat())];
  const need = (tr, spelling) => {
    const id = Object.keys(tr.words).find((key) => tr.words[key] === spelling);
    if (!tr.lists) return "-";
    if (id === undefined) return "not among this page's words";
    return tr.need(Number(id)) === 0 ? "always in" : tr.whyMissing(Number(id));
  };
  return scrolled(
    {},
    el(
      "tr",
      {},
      el("th", { class: "left" }, "word"),
      sides.map((tr) => el("th", { class: "left" }, tr.variant.name)),
    ),
    all.map((spelling) =>
      el(
        "tr",
        {},
        el("td", { class: "left" }, shown(spelling)),
        sides.map((tr) => el("td", { class: "left" }, need(tr, spelling))),
      ),
    ),
  );
}
