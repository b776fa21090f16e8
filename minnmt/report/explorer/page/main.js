// The views, and what changes the state: keys, buttons, the slider.

const VIEWS = {
  step: ["Step by step", stepView, () => true],
  attention: ["Attention", attentionView, () => true],
  tree: ["Beam search", treeView, () => true],
  cost: ["Cost", costView, () => true],
  counts: ["Counts by epoch", fillingView, (tr) => Boolean(tr.filling)],
  sides: ["Side by side", sidesView, () => traces().length > 1],
};

// Stepping

function stepStage(by) {
  const last = trace().path(state.path, state.n).length;
  let { step, stage } = state;
  stage += by;
  if (stage < 0 && step > 0) {
    step -= 1;
    stage = stagesOf(step).length - 1;
  } else if (stage >= stagesOf(step).length && step < last) {
    step += 1;
    stage = 0;
  }
  go({ step, stage, view: "step" });
  say();
}

function stepWord(by) {
  go({ step: state.step + by, stage: state.step + by <= 0 || state.step === 0 ? 0 : state.stage });
  say();
}

function say() {
  const at = where(),
    stage = stagesOf(state.step)[state.stage];
  byId("said").textContent =
    `${state.step ? `word ${state.step}, ${at.word}` : "the sentence"}: ${stage.name}, ${stage.about(at)}`;
}

function pressed(event) {
  if (event.key === "Escape") {
    byId("share").open = false;
    return go({ word: null, source: null });
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const last = trace().path(state.path, state.n).length;
  const acts = {
    ArrowRight: () => (event.shiftKey ? stepWord(1) : stepStage(1)),
    ArrowLeft: () => (event.shiftKey ? stepWord(-1) : stepStage(-1)),
    Home: () => go({ step: 0, stage: 0 }),
    End: () => go({ step: last, stage: stagesOf(last).length - 1 }),
  };
  if (event.target.closest("[role=tab]")) Object.assign(acts, tabKeys());
  if (!acts[event.key] || event.target.closest("[id=tree]")) return;
  event.preventDefault();
  acts[event.key]();
}

// On a tab the arrows go to the next one.
function tabKeys() {
  const tabs = [...byId("tabs").children],
    at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  const choose = (k) => {
    const key = tabs[(k + tabs.length) % tabs.length].dataset.key;
    go({ view: key.replace("tab-", "") });
    document.querySelector(`[data-key="${key}"]`).focus();
  };
  return {
    ArrowRight: () => choose(at + 1),
    ArrowLeft: () => choose(at - 1),
    Home: () => choose(0),
    End: () => choose(-1),
  };
}

function pickSentences() {
  const picks = (id, options, act) => {
    const select = byId(id);
    select.replaceChildren(...options.map((text, k) => el("option", { value: k }, text)));
    byId(`${id}-pick`).hidden = options.length < 2;
    select.onchange = () => act(Number(select.value));
  };
  picks(
    "sentence",
    page.sentences.map((each) => each.source),
    (sentence) => go({ sentence, step: 0, stage: 0, word: null, source: null }),
  );
  picks(
    "variant",
    page.variants.map((each) => each.name),
    (variant) => {
      const same = traces()[variant].words[state.word] === trace().words[state.word]; // another model, other ids
      go({ variant, word: same ? state.word : null });
    },
  );
}

function begin() {
  setTheme(preferredTheme());
  prefersDark.addEventListener("change", () => {
    setTheme(preferredTheme());
    render();
  });
  byId("n").addEventListener("input", (event) =>
    go({ n: lister().stop(Number(event.target.value), Number(event.target.value) > state.n) }),
  );
  byId("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    render();
  });
  byId("why-close").addEventListener("click", () => go({ word: null, source: null }));
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address is the state's
    byId("view").focus();
  });
  byId("copy").addEventListener("click", copyLink);
  byId("copy").hidden = location.protocol === "about:"; // the frame of a notebook has no address
  byId("save-svg").addEventListener("click", () => save("minnmt.svg", "image/svg+xml", asSvg()));
  byId("save-json").addEventListener("click", () =>
    save(
      "minnmt.json",
      "application/json",
      JSON.stringify({
        state,
        variant: page.variants[state.variant],
        trace: page.sentences[state.sentence].traces[state.variant],
      }),
    ),
  );
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", arrive);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    render();
  });
  if (page.served) {
    byId("ask").hidden = false;
    byId("ask").addEventListener("submit", translateTyped);
    byId("exact").addEventListener("submit", anyN);
  }
  arrive();
}

begin();
