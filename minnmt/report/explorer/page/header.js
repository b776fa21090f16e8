// What every view has above it: the sentence with its translations, the slider, the tabs.

function render() {
  const focused = document.activeElement?.dataset?.key;
  drawLines();
  drawLists();
  drawTabs();
  byId("view").replaceChildren(...VIEWS[state.view][1]().flat().filter(Boolean));
  drawWhy();
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  writeAddress();
}

function drawLines() {
  const tr = trace(),
    facts = tr.lists ? tr.compare(state.n) : null;
  const source = tr.units.map((unit, i) =>
    el(
      "button",
      {
        type: "button",
        class: "word",
        "data-source": i,
        "data-key": `line-source-${i}`,
        onclick: () => askSource(i),
        onpointerenter: () => lightSource(i),
        onpointerleave: () => light([], []),
      },
      shown(unit),
    ),
  );
  const line = (path) =>
    tr.path(path, state.n).map((node, t) => {
      const word = tr.word(node),
        looks = ["word"];
      if (state.path === path && state.step === t + 1) looks.push("now");
      if (facts && facts.differs >= 0 && t >= facts.differs && path === "list") looks.push("differs");
      if (facts && path === "full" && !tr.listed(word, state.n)) looks.push("missing");
      if (t < tr.forced.length) looks.push("forced");
      return el(
        "button",
        {
          type: "button",
          class: looks.join(" "),
          "data-path": path,
          "data-step": t + 1,
          "data-key": `line-${path}-${t}`,
          "data-word": word,
          "aria-label": `word ${t + 1}, ${tr.spell(word)}${looks.includes("missing") ? ", not in the list" : ""}`,
          onclick: () => go({ path, step: t + 1, word, source: null }),
          onpointerenter: () => state.path === path && lightTarget(t),
          onpointerleave: () => light([], []),
        },
        tr.spell(word),
      );
    });
  const rows = [
    ["source", source],
    ["all words", line("full")],
    ...(tr.lists ? [[`list, n = ${state.n}`, line("list")]] : []),
  ];
  byId("lines").replaceChildren(
    ...rows.flatMap(([name, words]) => [el("span", {}, name), el("div", { class: "words" }, words)]),
  );
  const note = byId("note"),
    asked = page.sentences[state.sentence];
  note.textContent = asked.note;
  note.hidden = !asked.note;
}

function drawLists() {
  const tr = trace();
  byId("lists").hidden = !tr.lists;
  byId("no-lists").hidden = Boolean(tr.lists);
  byId("no-lists").textContent = tr.lists
    ? ""
    : "This model has no counts, so there are no candidate lists; all words compete. python cli.py align makes counts.";
  if (!tr.lists) return;
  const slider = byId("n"),
    facts = tr.compare(state.n),
    size = tr.listSize(state.n);
  Object.assign(slider, { min: tr.lists.ns[0], max: tr.lists.ns.at(-1), step: 1 });
  slider.value = state.n;
  slider.setAttribute("aria-valuetext", `n = ${state.n}, ${size} words in the list`);
  byId("n-value").textContent = state.n;
  const full = facts.full.map((node) => tr.word(node)),
    lost = facts.missing >= 0 ? full[facts.missing] : null;
  const parts = [
    el(
      "span",
      { id: "size" },
      "list: ",
      el("b", {}, many(size)),
      ` of ${many(tr.variant.trg_words)} words (${percent(size / tr.variant.trg_words, 1)})`,
    ),
    el(
      "span",
      { id: "kept" },
      "keeps ",
      el("b", {}, percent(facts.mean)),
      ` of the probability, at least ${percent(facts.kept[facts.worst])} (word ${facts.worst + 1})`,
    ),
    el(
      "span",
      { id: "same" },
      facts.differs < 0
        ? el("span", { class: "good" }, "\u2713 the same translation")
        : el("span", { class: "bad" }, `\u2717 differs from word ${facts.differs + 1} on`),
    ),
    lost !== null &&
      el(
        "span",
        { id: "lost" },
        `missing: `,
        wordButton(lost, "missing"),
        tr.need(lost) === Infinity ? " (never linked)" : ` (from n = ${tr.need(lost)})`,
      ),
  ];
  byId("facts").replaceChildren(...parts.filter(Boolean));
}

function drawTabs() {
  const tabs = Object.entries(VIEWS).filter(([, [, , there]]) => there(trace()));
  byId("tabs").replaceChildren(
    ...tabs.map(([view, [name]]) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          "aria-selected": String(state.view === view),
          "aria-controls": "view",
          "data-key": `tab-${view}`,
          onclick: () => go({ view }),
        },
        name,
      ),
    ),
  );
}
