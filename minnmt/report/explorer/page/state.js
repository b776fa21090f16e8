// The state of the page, which the address keeps, within what there is.

const cache = new Map();
const DEFAULTS = {
  sentence: 0,
  variant: 0,
  step: 0,
  stage: 0,
  n: null,
  path: "list",
  view: "step",
  threshold: null,
  epoch: null,
  word: null,
  source: null,
};
const state = { ...DEFAULTS };

function traces() {
  const asked = page.sentences[state.sentence];
  if (!cache.has(asked))
    cache.set(
      asked,
      asked.traces.map((record, v) => new Trace(record, page.variants[v])),
    );
  return cache.get(asked);
}

function trace() {
  return traces()[state.variant];
}

// The trace whose lists the slider is for: the current one or, where that has none, another beside it.
function lister() {
  return trace().lists ? trace() : traces().find((each) => each.lists);
}

// Change the state and show it.
function go(change) {
  Object.assign(state, change);
  settle();
  render();
}

// Keep the state within what there is.
function settle() {
  const within = (x, least, most) => Math.min(Math.max(Number.isFinite(x) ? Math.round(x) : least, least), most);
  state.sentence = within(state.sentence, 0, page.sentences.length - 1);
  state.variant = within(state.variant, 0, page.variants.length - 1);
  const tr = trace(),
    limits = tr.limits,
    from = lister();
  state.n = from ? from.stop(Number.isFinite(state.n) ? Math.round(state.n) : from.limits.n) : null;
  if (!limits) state.path = "full";
  else if (state.path !== "full") state.path = "list";
  state.threshold = Math.min(
    Math.max(Number.isFinite(state.threshold) ? state.threshold : (limits?.threshold ?? 0.1), 0),
    0.5,
  );
  state.step = within(state.step, 0, tr.path(state.path, state.n).length);
  state.stage = within(state.stage, 0, stagesOf(state.step).length - 1);
  if (state.epoch !== null && tr.filling) state.epoch = within(state.epoch, 0, tr.filling.epochs.length - 1);
  if (!Object.hasOwn(VIEWS, state.view) || !VIEWS[state.view][2](tr)) state.view = "step";
  if (state.word !== null && tr.words[state.word] === undefined) state.word = null;
  if (state.source !== null && tr.units[state.source] === undefined) state.source = null;
}

// The address

const NUMBERS = ["sentence", "variant", "step", "stage", "n", "threshold", "epoch", "word", "source"];

function readAddress(asked) {
  Object.assign(state, DEFAULTS);
  for (const name of NUMBERS)
    if (asked.has(name)) state[name] = asked.get(name).trim() === "" ? null : Number(asked.get(name));
  for (const name of ["path", "view"]) if (asked.has(name)) state[name] = asked.get(name);
  for (const name of ["word", "source"]) if (!Number.isInteger(state[name])) state[name] = null;
}

function writeAddress() {
  const kept = Object.entries(state).filter(([, value]) => value !== null);
  const fragment = `#${new URLSearchParams([...kept, ...askedOfServer()])}`;
  try {
    history.replaceState(null, "", fragment);
  } catch {
    /* a frame without an address of its own */
  }
}
