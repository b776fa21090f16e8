// The beam search as a tree: a column for every step, the best hypothesis at the top, pruned ones in grey below.

const TREE = { wide: 128, high: 38, top: 30 };

function treeView() {
  const tr = trace(),
    search = tr.search(state.path, state.n),
    winners = new Set(tr.way(search.winner));
  const kept = search.rounds.reduce((sum, [nodes]) => sum + nodes.length, 0),
    dropped = search.rounds.reduce((sum, [, nodes]) => sum + nodes.length, 0);
  const ended = search.rounds.flatMap(([nodes]) => nodes).filter((node) => tr.word(node) === EOS);
  const box = el(
    "div",
    { class: "scroll", id: "tree", tabindex: 0, "aria-label": "beam search tree, scrolls sideways" },
    treePicture(tr, search, winners),
  );
  queueMicrotask(() => {
    box.scrollLeft = Math.max(0, (state.step - 2) * TREE.wide);
  });
  return [
    el(
      "div",
      { class: "controls" },
      pathChoice(),
      el(
        "span",
        {},
        `${kept} hypotheses kept, ${ended.length} ended; grey: the best ${dropped} that were pruned.`,
      ),
    ),
    box,
    el("p", { class: "readout", id: "node" }, "The winner's path is bold. Point at a word to read its scores."),
    el("h3", {}, "Ended hypotheses"),
    endedTable(tr, ended, search.winner),
  ];
}

function treePicture(tr, search, winners) {
  const places = new Map([[0, [0, 0]]]);
  search.rounds.forEach(([kept, pruned], t) => [...kept, ...pruned].forEach((node, k) => places.set(node, [t + 1, k])));
  const rows = Math.max(...search.rounds.map(([kept, pruned]) => kept.length + pruned.length));
  const pruned = new Set(search.rounds.flatMap(([, nodes]) => nodes));
  const x = (node) => places.get(node)[0] * TREE.wide + 6,
    y = (node) => TREE.top + places.get(node)[1] * TREE.high + 14;
  const lines = [],
    words = [];
  for (const node of [...places.keys()].sort((a, b) => winners.has(a) - winners.has(b))) {
    if (node === 0) continue;
    const parent = tr.parent(node),
      won = winners.has(node),
      grey = pruned.has(node),
      from = x(parent) + (parent ? TREE.wide - 24 : 60),
      to = x(node);
    lines.push(
      mark("path", {
        d: `M${from} ${y(parent)}C${from + 14} ${y(parent)} ${to - 14} ${y(node)} ${to} ${y(node)}`,
        fill: "none",
        stroke: won ? "var(--blue)" : "var(--soft)",
        "stroke-width": won ? 4 : 1.3,
        "stroke-dasharray": grey ? "4 4" : null,
      }),
    );
    words.push(treeWord(tr, node, x(node), y(node), won, grey));
  }
  const steps = search.rounds.map((_, t) =>
    mark("text", { x: (t + 1) * TREE.wide + 6, y: 16, "font-size": 14, class: "soft" }, `word ${t + 1}`),
  );
  return picture(
    (search.rounds.length + 1) * TREE.wide + 10,
    TREE.top + rows * TREE.high + 6,
    "beam search",
    steps,
    lines,
    mark("text", { x: 6, y: y(0) + 6, "font-size": 16, class: "soft" }, "start"),
    words,
  );
}

function treeWord(tr, node, x, y, won, grey) {
  const word = tr.word(node),
    ended = word === EOS,
    told = nodeText(tr, node, won, grey),
    show = () => {
      byId("node").textContent = told;
    };
  return mark(
    "g",
    { onpointerenter: show, onfocusin: show },
    tip(told),
    spot(
      told,
      `node-${node}`,
      () => askWord(word),
      mark("rect", {
        class: "spot",
        x,
        y: y - 14,
        width: TREE.wide - 24,
        height: 28,
        rx: ended ? 14 : 5,
        fill: won ? "var(--blue-soft)" : grey ? "var(--paper)" : "var(--panel)",
        stroke: won ? "var(--blue)" : "var(--soft)",
        "stroke-width": won ? 3 : 1,
        "stroke-dasharray": grey ? "4 3" : null,
      }),
      mark(
        "text",
        { x: x + 7, y: y + 5, "font-size": 15, "font-weight": won ? 700 : 400, class: grey ? "soft" : null },
        short(tr.spell(word), 11),
      ),
    ),
  );
}

function nodeText(tr, node, won, grey) {
  const p = Math.exp(tr.wordLogp(node, state.path, state.n)),
    total = tr.logp(node, state.path, state.n);
  const what = won ? "on the winner's path" : grey ? "pruned" : tr.word(node) === EOS ? "ended" : "kept";
  const score = tr.score(node, state.path, state.n).toFixed(4);
  return `${tr.spell(tr.word(node))}: p = ${general(p, 3)}, sum of ln p = ${total.toFixed(3)}, score = ${score}, ${what}`;
}

function endedTable(tr, ended, winner) {
  const rows = ended.map((node) => [tr.score(node, state.path, state.n), node]).sort((a, b) => b[0] - a[0]);
  return scrolled(
    { id: "ended" },
    el(
      "tr",
      {},
      ["score", "translation, in units"].map((name, k) => el("th", { class: k ? "left" : "" }, name)),
    ),
    rows.map(([score, node]) =>
      el(
        "tr",
        {},
        el("td", {}, score.toFixed(4)),
        el(
          "td",
          { class: node === winner ? "left good" : "left" },
          tr.text(tr.way(node)),
        ),
      ),
    ),
  );
}
