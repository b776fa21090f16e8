// What every view has above it: the sentence with its translations, the slider, the tabs.

function render() {
  const before = { key: document.activeElement?.dataset?.key, open: !byId("why").hidden };
  drawLines();
  drawLists();
  drawTabs();
  byId("view").replaceChildren(...VIEWS[state.view][1]().flat().filter(Boolean));
  byId("save-svg").disabled = !pictures().length;
  drawWhy();
  keepFocus(before);
  writeAddress();
}

// Where the focus goes after all is drawn anew: to the panel's heading when it opens, to what opened it when it closes.
let opener = null;

function keepFocus(before) {
  for (const box of ["view", "why-text"])
    byId(box)
      .querySelectorAll("button:not([data-key])")
      .forEach((button, k) => (button.dataset.key = `${box}-${k}`));
  const open = !byId("why").hidden,
    find = (key) => key && document.querySelector(`[data-key="${CSS.escape(key)}"]`),
    heading = byId("why-text").querySelector("h2");
  if (open && !before.open) {
    opener = before.key;
    return heading.focus({ preventScroll: true });
  }
  const active = document.activeElement;
  if (open === before.open && active && active !== document.body) return;
  const back = before.open && !open ? (find(opener) ?? find(before.key)) : (find(before.key) ?? (open && heading));
  if (back) back.focus({ preventScroll: true });
}

function drawLines() {
  byId("sentence").value = state.sentence;
  byId("variant").value = state.variant;
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
    ...(page.served && tr.forced.length ? [["by hand", takeBackButton(tr)]] : []),
  ];
  byId("lines").replaceChildren(
    ...rows.flatMap(([name, words]) => [el("span", {}, name), el("div", { class: "words" }, words)]),
  );
  const note = byId("note"),
    asked = page.sentences[state.sentence];
  note.textContent = asked.note;
  note.hidden = !asked.note;
}

function takeBackButton(tr) {
  const text = `take back "${tr.spell(tr.forced.at(-1))}"`;
  return el("button", { type: "button", id: "take-back", "data-key": "take-back", onclick: takeBack }, text);
}

// Where the slider began; an n that the server is asked for does not stretch it.
const FIRST_N = page.variants.find((variant) => variant.lists)?.lists.n,
  SLIDER = { min: Math.min(FIRST_N, 5), max: Math.max(FIRST_N, 500), step: 1 };

function drawSlider() {
  const from = lister(),
    slider = byId("n");
  byId("lists").hidden = !from;
  byId("exact").hidden = !page.served || !from;
  if (!from) return;
  Object.assign(slider, SLIDER);
  slider.value = state.n;
  slider.setAttribute("aria-valuetext", `n = ${state.n}, ${from.listSize(from.stop(state.n))} words in the list`);
  byId("n-value").textContent = state.n;
}

function drawLists() {
  const tr = trace();
  drawSlider();
  byId("no-lists").hidden = Boolean(tr.lists);
  byId("no-lists").textContent = tr.lists
    ? ""
    : "This model has no counts, so there are no candidate lists; all words compete. python cli.py align makes counts.";
  drawFacts(tr);
}

function drawFacts(tr) {
  const box = byId("facts");
  if (!tr.lists) return box.replaceChildren();
  const facts = tr.compare(state.n),
    size = tr.listSize(state.n);
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
        wordButton(lost, "missing", "lost"),
        ` (${tr.whyMissing(lost)})`,
      ),
  ].filter(Boolean);
  if (box.childNodes.length !== parts.length || parts.some((part, k) => !part.isEqualNode(box.childNodes[k])))
    box.replaceChildren(...parts); // else nothing new is read out
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
          tabindex: state.view === view ? 0 : -1,
          "data-key": `tab-${view}`,
          onclick: () => go({ view }),
        },
        name,
      ),
    ),
  );
}
