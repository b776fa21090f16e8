// Step by step: one stage in focus, the others folded.

function pathChoice() {
  if (!trace().lists) return null;
  const button = (path, text) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(state.path === path),
        "data-key": `path-${path}`,
        onclick: () => go({ path }),
      },
      text,
    );
  return el(
    "span",
    { class: "choice", role: "group", "aria-label": "which translation" },
    button("full", "all words"),
    button("list", `list, n = ${state.n}`),
  );
}

function stepView() {
  const at = where(),
    stages = stagesOf(state.step),
    last = at.path.length;
  const button = (text, label, key, act, off) =>
    el("button", { type: "button", "aria-label": label, "data-key": key, disabled: off, onclick: act }, text);
  const first = state.step === 0 && state.stage === 0,
    end = state.step === last && state.stage === stages.length - 1;
  const title = state.step === 0 ? "before the first word: the sentence" : `word ${state.step} of ${last}: `;
  return [
    el(
      "div",
      { class: "steps" },
      button("\u25C0\u25C0", "word before", "word-before", () => stepWord(-1), state.step === 0),
      button("\u25C0", "stage before", "stage-before", () => stepStage(-1), first),
      el("span", { class: "where" }, title, state.step > 0 && el("b", {}, at.word)),
      button("\u25B6", "next stage", "stage-next", () => stepStage(1), end),
      button("\u25B6\u25B6", "next word", "word-next", () => stepWord(1), state.step === last),
      pathChoice(),
    ),
    el(
      "div",
      { class: "stages" },
      stages.map((stage, k) =>
        el(
          "div",
          { class: `stage ${k === state.stage ? "open" : ""}` },
          el(
            "button",
            {
              type: "button",
              "aria-expanded": String(k === state.stage),
              "data-key": `stage-${k}`,
              onclick: () => go({ stage: k }),
            },
            el("b", {}, `${k + 1} ${stage.name}`),
            el("span", {}, stage.about(at)),
          ),
          k === state.stage && stageInside(stage, at),
        ),
      ),
    ),
  ];
}

// All that the stages ask for at the step that is open
function where() {
  const tr = trace(),
    which = tr.lists ? state.path : "full",
    n = state.n,
    path = tr.path(which, n),
    t = Math.min(state.step, path.length);
  const at = { trace: tr, n, which, path, t, size: tr.variant, search: tr.search(which, n) };
  if (t === 0) return at;
  const before = t === 1 ? 0 : path[t - 2],
    step = tr.steps[before],
    earlier = t === 1 ? null : tr.steps[tr.parent(before)];
  const most = Math.max(...step.alpha);
  return {
    ...at,
    step,
    node: path[t - 1],
    most,
    looksAt: shown(tr.units[step.alpha.indexOf(most)]),
    state: t === 1 ? tr.start.s0 : earlier.s,
    chosen: tr.word(path[t - 1]),
    word: tr.spell(tr.word(path[t - 1])),
    before: t === 1 ? "" : tr.spell(tr.word(before)),
    full: tr.best(before, "full", n),
    listed: tr.lists ? tr.best(before, "list", n) : [],
    kept: tr.lists ? tr.kept(before, n) : 1,
    live: t === 1 ? 1 : at.search.rounds[t - 2][0].filter((node) => tr.word(node) !== EOS).length,
    listSize: tr.lists ? tr.listSize(n) : 0,
  };
}
