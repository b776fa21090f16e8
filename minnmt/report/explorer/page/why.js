// Why is a word in the list, or not: what `candidates why` says, and the list of a source word.

function askWord(word) {
  go({ word, source: null });
}
function askSource(i) {
  go({ source: i, word: null });
}

function wordButton(word, look = "", key = null) {
  return el(
    "button",
    { type: "button", class: `word ${look}`, "data-word": word, "data-key": key, onclick: () => askWord(word) },
    trace().spell(word),
  );
}

function sourceWord(i) {
  return el(
    "button",
    { type: "button", class: "word", "data-source": i, onclick: () => askSource(i) },
    shown(trace().units[i]),
  );
}

function verdict(tr, word, n) {
  const links = tr.links.get(word) ?? [],
    through = links.filter((link) => link.rank <= n && !link.below);
  const needed = links.find((link) => !link.below);
  if (tr.always(word)) return [true, `in the list of every sentence: it is ${tr.always(word)}`];
  if (through.length) return [true, `in the list through ${through.map((link) => shown(link.row.unit)).join(", ")}`];
  if (tr.forced.includes(word)) return [true, "in the list because it was forced by hand"];
  if (!links.length) {
    return [
      false,
      "not in the list; no source word of the sentence was " +
        (whole(tr) ? "ever linked with it" : `linked with it among its ${many(tr.lists.counts.cut)} best`),
    ];
  }
  if (needed)
    return [false, `not in the list; --topn ${needed.rank} would bring it, through ${shown(needed.row.unit)}`];
  return [false, "not in the list; it takes a lower --min-prob"];
}

function linkTable(links, n, last, spell) {
  const names = [last, "rank", "count", "p(trg|src)", "p(src|trg)", "rank back"];
  return scrolled(
    { class: "links" },
    el(
      "tr",
      {},
      names.map((name, k) => el("th", { class: k ? "" : "left" }, name)),
    ),
    links.map((link) =>
      el(
        "tr",
        {},
        el(
          "td",
          { class: "left" },
          spell(link),
          link.below ? ` (below ${trace().limits.min_prob})` : link.rank > n ? ` (beyond ${n})` : "",
        ),
        [link.rank, general(link.count, 6), general(link.pTrg, 4), general(link.pSrc, 4), link.back].map((x) =>
          el("td", {}, String(x)),
        ),
      ),
    ),
  );
}

function drawWhy() {
  const tr = trace(),
    box = byId("why"),
    asked = state.word !== null || state.source !== null;
  box.hidden = !asked;
  document.body.classList.toggle("asked", asked);
  if (!asked) return;
  byId("why-text").replaceChildren(
    ...(state.word !== null ? whyWord(tr, state.word) : whySource(tr, state.source)).map((part) => el("div", {}, part)),
  );
}

function whyWord(tr, word) {
  const title = el("h2", { tabindex: -1 }, tr.spell(word));
  if (!tr.lists)
    return [
      [title, el("p", {}, "There are no counts, so there is no list that it could be in.")],
      [probabilityHere(tr, word), forceButton(tr, word)],
    ];
  const [inside, text] = verdict(tr, word, state.n),
    links = tr.links.get(word) ?? [];
  return [
    [
      title,
      el(
        "p",
        { class: "verdict" },
        el("b", { class: inside ? "good" : "bad" }, inside ? "In the list. " : "Not in the list. "),
        `${tr.spell(word)} (id ${word}): ${text}`,
      ),
      Number.isFinite(tr.need(word)) &&
        tr.need(word) > 0 &&
        el(
          "p",
          { class: "need" },
          `It is in from n = ${tr.need(word)} on; n is ${state.n} now. `,
          tr.stop(tr.need(word), true) >= tr.need(word) &&
            tr.stop(tr.need(word), true) !== state.n &&
            el(
              "button",
              { type: "button", onclick: () => go({ n: tr.stop(tr.need(word), true) }) },
              `set n = ${tr.stop(tr.need(word), true)}`,
            ),
        ),
      probabilityHere(tr, word),
      forceButton(tr, word),
    ],
    [links.length > 0 && linkTable(links, state.n, "source", (link) => shown(link.row.unit)), otherWord(tr)],
  ];
}

// Its probability at the step that is open, if the page has it.
function probabilityHere(tr, word) {
  if (state.step === 0) return null;
  const here = where(),
    k = here.step.best[0].indexOf(word);
  if (k < 0) return null;
  const p = Math.exp(here.step.best[1][k]);
  const restricted = tr.lists && tr.listed(word, state.n) ? `, ${general(p / here.kept, 3)} with the list` : "";
  return el("p", {}, `As word ${state.step} its probability is ${general(p, 3)} with all words${restricted}.`);
}

function forceButton(tr, word) {
  if (!page.served || state.step === 0 || word === EOS) return null;
  return el(
    "p",
    {},
    el(
      "button",
      { type: "button", id: "force", onclick: () => force(word) },
      `write "${tr.spell(word)}" as word ${state.step}`,
    ),
  );
}

// Are all links of the sentence in the page? A word that is not there then has none.
function whole(tr) {
  return Boolean(tr.lists?.counts.rows.every((row) => row.size <= row.ids.length));
}

function notHere(tr, typed) {
  return `"${typed}" is not among this page's words${whole(tr) ? ": no word of this sentence is linked with it" : ""}.`;
}

// Any other word of the page's vocabulary, by its spelling
function otherWord(tr) {
  const answer = el("p", { class: "readout", role: "status" });
  const look = (event) => {
    event.preventDefault();
    const typed = event.target.elements[0].value.trim();
    const found = Object.keys(tr.words).find((id) => tr.words[id] === typed || tr.spell(Number(id)) === typed);
    if (found !== undefined) askWord(Number(found));
    else answer.textContent = typed ? notHere(tr, typed) : "";
  };
  return el(
    "form",
    { onsubmit: look },
    el(
      "label",
      {},
      "ask about another target unit ",
      el("input", { type: "text", size: 14, "aria-label": "another target unit" }),
    ),
    " ",
    el("button", {}, "why?"),
    answer,
  );
}

function whySource(tr, i) {
  const title = el("h2", { tabindex: -1 }, shown(tr.units[i]));
  if (!tr.lists) return [[title, el("p", {}, "There are no counts, so it brings no candidates.")]];
  const row = tr.lists.counts.rows.find((each) => each.id === tr.ids[i]);
  if (!row.size) return [[title, el("p", {}, "It has no candidates: it was never linked with a target word.")]];
  const links = tr.rowLinks.get(row).slice(0, 20),
    first = Math.min(state.n, row.size),
    brings = tr.brings(row, state.n).length;
  return [
    [
      title,
      el(
        "p",
        {},
        `source unit ${i + 1} (id ${tr.ids[i]})${tr.unknown.includes(i) ? ", unknown, read as UNK" : ""}: ` +
          `${many(row.size)} candidates, of which it brings ` +
          (brings === first
            ? `the first ${first}. `
            : `${brings}; the others of the first ${first} are below --min-prob ${tr.limits.min_prob}. `) +
          `Its best ${links.length}:`,
      ),
    ],
    linkTable(links, state.n, "target", (link) => wordButton(link.word)),
  ];
}
