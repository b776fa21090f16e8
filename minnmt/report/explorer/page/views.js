// The views besides attention and tree: step by step, cost, counts by epoch, side by side.

function pathChoice() {
  if (!trace().lists) return null;
  const button = (path, text) => el("button", { type: "button", "aria-pressed": String(state.path === path), "data-key": `path-${path}`, onclick: () => go({ path }) }, text);
  return el("span", { class: "choice", role: "group", "aria-label": "which translation" }, button("full", "all words"), button("list", `list, n = ${state.n}`));
}

// Step by step

function stepView() {
  const at = where(), stages = stagesOf(state.step), last = at.path.length;
  const button = (text, label, key, act, off) => el("button", { type: "button", "aria-label": label, "data-key": key, disabled: off, onclick: act }, text);
  const first = state.step === 0 && state.stage === 0, end = state.step === last && state.stage === stages.length - 1;
  const title = state.step === 0 ? "before the first word: the sentence" : `word ${state.step} of ${last}: `;
  return [
    el("div", { class: "steps" },
      button("\u25C0\u25C0", "word before", "word-before", () => stepWord(-1), state.step === 0), button("\u25C0", "stage before", "stage-before", () => stepStage(-1), first),
      el("span", { class: "where" }, title, state.step > 0 && el("b", {}, at.word)),
      button("\u25B6", "next stage", "stage-next", () => stepStage(1), end), button("\u25B6\u25B6", "next word", "word-next", () => stepWord(1), state.step === last), pathChoice()),
    el("div", { class: "stages" }, stages.map((stage, k) => el("div", { class: `stage ${k === state.stage ? "open" : ""}` },
      el("button", { type: "button", "aria-expanded": String(k === state.stage), "data-key": `stage-${k}`, onclick: () => go({ stage: k }) },
        el("b", {}, `${k + 1} ${stage.name}`), el("span", {}, stage.about(at))),
      k === state.stage && stageInside(stage, at)))),
  ];
}

// All that the stages ask for at the step that is open
function where() {
  const tr = trace(), which = tr.lists ? state.path : "full", n = state.n, path = tr.path(which, n), t = Math.min(state.step, path.length);
  const at = { trace: tr, n, which, path, t, size: tr.variant, search: tr.search(which, n) };
  if (t === 0) return at;
  const before = t === 1 ? 0 : path[t - 2], step = tr.steps[before], earlier = t === 1 ? null : tr.steps[tr.parent(before)];
  const most = Math.max(...step.alpha);
  return {
    ...at, step, node: path[t - 1], most, looksAt: shown(tr.units[step.alpha.indexOf(most)]), state: t === 1 ? tr.start.s0 : earlier.s,
    chosen: tr.word(path[t - 1]), word: tr.spell(tr.word(path[t - 1])), before: t === 1 ? "" : tr.spell(tr.word(before)),
    full: tr.best(before, "full", n), listed: tr.lists ? tr.best(before, "list", n) : [], kept: tr.lists ? tr.kept(before, n) : 1,
  };
}

// Cost

function costView() {
  const tr = trace(), { rest, word } = tr.cost, V = tr.variant.trg_words, K = tr.lists ? tr.listSize(state.n) : V, width = roomFor();
  const pair = (title, full, list, text) => el("div", {}, el("h3", {}, title, tr.lists && `: ${(full / list).toFixed(1)} times less`), bars("", [
    { label: "all words", share: 1, text: text(full), look: "plain" },
    ...(tr.lists ? [{ label: `list, n = ${state.n}`, share: list / full, text: text(list), look: "list" }] : []),
  ], width, 140));
  const total = (what, words) => rest[what] + words * word[what];
  return [
    el("p", { class: "prose" }, `One step of the search with ${tr.variant.beam} hypotheses. The rest of the network costs the same with every list; a list saves rows of the output layer.`),
    pair("Rows of the output layer that are touched", V, K, (x) => many(x)),
    pair("MFLOP of the softmax", V * word.flops, K * word.flops, (x) => (x / 1e6).toFixed(2)),
    pair("MFLOP of the whole step", total("flops", V), total("flops", K), (x) => (x / 1e6).toFixed(2)),
    pair("MB of weights and annotations read, the whole step", total("nbytes", V), total("nbytes", K), (x) => (x / 1e6).toFixed(2)),
    el("p", { class: "shapes" }, `The rest of the network: ${(rest.flops / 1e6).toFixed(2)} MFLOP and ${(rest.nbytes / 1e6).toFixed(2)} MB a step, as much as ${many(Math.round(rest.flops / word.flops))} words of the softmax. `
      + "Counted from the shapes, as in lesson 08: matrix products, float32."),
  ];
}

// Counts by epoch

let playing = null;

function fillingView() {
  const tr = trace(), { epochs, units, targets, counts } = tr.filling, e = Math.min(state.epoch ?? epochs.length - 1, epochs.length - 1);
  const slider = el("input", { type: "range", id: "epoch", min: 0, max: epochs.length - 1, step: 1, value: e, "data-key": "epoch", "aria-label": "epoch", oninput: (event) => go({ epoch: Number(event.target.value) }) });
  const play = el("button", { type: "button", "data-key": "play", onclick: playEpochs }, playing ? "stop" : "play");
  return [
    el("div", { class: "controls" }, play, el("label", { for: "epoch" }, `after epoch ${epochs[e]}`), slider),
    el("p", { class: "prose" }, "Training adds the attention weights up, epoch after epoch. For five words of the sentence, the counts with their likeliest targets: the darker, the larger their share of the source word's count."),
    el("div", { class: "scroll" }, fillingPicture(tr, units, targets, counts, e)),
    el("p", { class: "formula" }, "count[f, e] += alpha, where alpha > threshold  (18)"),
  ];
}

function fillingPicture(tr, units, targets, counts, e) {
  const left = 118, top = 44, wide = Math.max(52, Math.min(150, Math.floor((roomFor() - left) / units.length))), high = 34;
  const zero = rgb("paper"), one = rgb("blue"), text = { light: colour("ink"), dark: colour("paper") };
  const last = counts[counts.length - 1].map((row) => row.reduce((sum, x) => sum + x, 0) || 1);
  return picture(left + wide * units.length + 4, top + high * targets.length + 4, `counts after epoch ${tr.filling.epochs[e]}`,
    units.map((unit, w) => mark("text", { x: left + w * wide + wide / 2, y: 28, "font-size": wide < 80 ? 13 : 17, "font-weight": 700, "text-anchor": "middle" }, short(shown(unit), wide / 9))),
    targets.map((target, k) => [
      spot(`target ${tr.spell(target)}`, `target-${target}`, () => askWord(target),
        mark("text", { class: "spot", x: left - 8, y: top + k * high + 22, "font-size": 16, "text-anchor": "end" }, short(tr.spell(target), 12))),
      units.map((_, w) => {
        const count = counts[e][w][k], share = Math.sqrt(count / last[w]);
        return [mark("rect", { class: "cell", x: left + w * wide + 1, y: top + k * high + 1, width: wide - 2, height: high - 2, fill: mix(zero, one, share), stroke: "var(--line)" }),
          count > 0 && mark("text", { x: left + w * wide + wide / 2, y: top + k * high + 22, "font-size": 15, "text-anchor": "middle", style: null, "data-count": count }, tspan(count, share > 0.55 ? text.dark : text.light))];
      }),
    ]));
}

function tspan(count, fill) { return mark("tspan", { fill }, count < 100 ? String(Number(count.toPrecision(3))) : many(Math.round(count))); }

function playEpochs() {
  const epochs = trace().filling.epochs;
  clearInterval(playing);
  if (playing) { playing = null; return render(); }
  let e = 0;
  go({ epoch: e });
  playing = setInterval(() => {
    e += 1;
    if (e >= epochs.length - 1 || state.view !== "counts") { clearInterval(playing); playing = null; }
    if (state.view === "counts") go({ epoch: Math.min(e, epochs.length - 1) });
  }, 900);
  render();
}

// Side by side

function sidesView() {
  const sides = traces();
  return [
    el("div", { class: "both" }, sides.map((tr) => sideBox(tr))),
    el("h3", {}, "The n that each word needs"), needTable(sides),
  ];
}

function sideBox(tr) {
  const n = tr.lists ? tr.stop(state.n) : state.n;
  const line = (path) => tr.path(path, n).slice(0, -1).map((node) => tr.spell(tr.word(node))).join(" ");
  const facts = tr.lists ? tr.compare(n) : null;
  return el("div", {}, el("h2", {}, tr.variant.name), el("p", {}, el("b", {}, "all words: "), line("full")),
    tr.lists && el("p", {}, el("b", {}, `list, n = ${n}: `), line("list")),
    tr.lists && el("p", {}, `${many(tr.listSize(n))} of ${many(tr.variant.trg_words)} words, keeps ${percent(facts.mean)}; `,
      facts.differs < 0 ? el("span", { class: "good" }, "the same translation") : el("span", { class: "bad" }, `differs from word ${facts.differs + 1} on`)),
    tr.lists ? bars("", [{ label: "list", share: tr.listSize(n) / tr.variant.trg_words, text: many(tr.listSize(n)), look: "list" }, { label: "kept", share: facts.mean, text: percent(facts.mean), look: "plain" }], roomFor(0.5) - 60, 60)
      : el("p", {}, "no counts, so no list"));
}

function needTable(sides) {
  const words = sides.map((tr) => tr.path("full", state.n).map((node) => tr.words[tr.word(node)]));
  const all = [...new Set(words.flat())];
  const need = (tr, spelling) => {
    const id = Object.keys(tr.words).find((key) => tr.words[key] === spelling);
    if (!tr.lists) return "-";
    const n = id === undefined ? Infinity : tr.need(Number(id));
    return n === 0 ? "always in" : n === Infinity ? "never linked" : `n = ${n}`;
  };
  return el("div", { class: "scroll" }, el("table", {}, el("tr", {}, el("th", { class: "left" }, "word"), sides.map((tr) => el("th", { class: "left" }, tr.variant.name))),
    all.map((spelling) => el("tr", {}, el("td", { class: "left" }, shown(spelling)), sides.map((tr) => el("td", { class: "left" }, need(tr, spelling)))))));
}
