// The state, which the address keeps, and what changes it: keys, buttons, the slider, the server.

const VIEWS = {
  step: ["Step by step", stepView, () => true], attention: ["Attention", attentionView, () => true], tree: ["Beam search", treeView, () => true],
  cost: ["Cost", costView, () => true], counts: ["Counts by epoch", fillingView, (tr) => Boolean(tr.filling)],
  sides: ["Side by side", sidesView, () => traces().length > 1],
};
const cache = new Map();
const state = { sentence: 0, variant: 0, step: 0, stage: 0, n: null, path: "list", view: "step", threshold: null, epoch: null, word: null, source: null };

function traces() {
  const asked = page.sentences[state.sentence];
  if (!cache.has(asked)) cache.set(asked, asked.traces.map((record, v) => new Trace(record, page.variants[v])));
  return cache.get(asked);
}

function trace() { return traces()[state.variant]; }

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
  const tr = trace(), limits = tr.limits;
  state.n = limits ? tr.stop(Number.isFinite(state.n) ? Math.round(state.n) : limits.n) : null;
  if (!limits) state.path = "full";
  else if (state.path !== "full") state.path = "list";
  state.threshold = Math.min(Math.max(Number.isFinite(state.threshold) ? state.threshold : limits?.threshold ?? 0.1, 0), 0.5);
  state.step = within(state.step, 0, tr.path(state.path, state.n).length);
  state.stage = within(state.stage, 0, stagesOf(state.step).length - 1);
  if (state.epoch !== null && tr.filling) state.epoch = within(state.epoch, 0, tr.filling.epochs.length - 1);
  if (!Object.hasOwn(VIEWS, state.view) || !VIEWS[state.view][2](tr)) state.view = "step";
  if (state.word !== null && tr.words[state.word] === undefined) state.word = null;
  if (state.source !== null && tr.units[state.source] === undefined) state.source = null;
}

// The address

const NUMBERS = ["sentence", "variant", "step", "stage", "n", "threshold", "epoch", "word", "source"];

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const name of NUMBERS) if (asked.has(name)) state[name] = asked.get(name).trim() === "" ? null : Number(asked.get(name));
  for (const name of ["path", "view"]) if (asked.has(name)) state[name] = asked.get(name);
  for (const name of ["word", "source"]) if (!Number.isInteger(state[name])) state[name] = null;
}

function writeAddress() {
  const kept = Object.entries(state).filter(([, value]) => value !== null);
  const fragment = `#${new URLSearchParams(kept)}`;
  try { history.replaceState(null, "", fragment); } catch { /* a frame without an address of its own */ }
}

// Showing

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
  const tr = trace(), facts = tr.lists ? tr.compare(state.n) : null;
  const source = tr.units.map((unit, i) => el("button", { type: "button", class: "word", "data-source": i, "data-key": `line-source-${i}`, onclick: () => askSource(i),
    onpointerenter: () => lightPartners(i, null), onpointerleave: () => light(null, null) }, shown(unit)));
  const line = (path) => tr.path(path, state.n).map((node, t) => {
    const word = tr.word(node), looks = ["word"];
    if (state.path === path && state.step === t + 1) looks.push("now");
    if (facts && facts.differs >= 0 && t >= facts.differs && path === "list") looks.push("differs");
    if (facts && path === "full" && !tr.listed(word, state.n)) looks.push("missing");
    if (t < tr.forced.length) looks.push("forced");
    return el("button", { type: "button", class: looks.join(" "), "data-path": path, "data-step": t + 1, "data-key": `line-${path}-${t}`, "data-word": word,
      "aria-label": `word ${t + 1}, ${tr.spell(word)}${looks.includes("missing") ? ", not in the list" : ""}`, onclick: () => go({ path, step: t + 1, word, source: null }),
      onpointerenter: () => state.path === path && lightPartners(null, t + 1), onpointerleave: () => light(null, null) }, tr.spell(word));
  });
  const rows = [["source", source], ["all words", line("full")], ...(tr.lists ? [[`list, n = ${state.n}`, line("list")]] : [])];
  byId("lines").replaceChildren(...rows.flatMap(([name, words]) => [el("span", {}, name), el("div", { class: "words" }, words)]));
  const note = byId("note"), asked = page.sentences[state.sentence];
  note.textContent = asked.note;
  note.hidden = !asked.note;
}

function drawLists() {
  const tr = trace();
  byId("lists").hidden = !tr.lists;
  byId("no-lists").hidden = Boolean(tr.lists);
  byId("no-lists").textContent = tr.lists ? "" : "This model has no counts, so there are no candidate lists; all words compete. python cli.py align makes counts.";
  if (!tr.lists) return;
  const slider = byId("n"), facts = tr.compare(state.n), size = tr.listSize(state.n);
  Object.assign(slider, { min: tr.lists.ns[0], max: tr.lists.ns.at(-1), step: 1 });
  slider.value = state.n;
  slider.setAttribute("aria-valuetext", `n = ${state.n}, ${size} words in the list`);
  byId("n-value").textContent = state.n;
  const full = facts.full.map((node) => tr.word(node)), lost = facts.missing >= 0 ? full[facts.missing] : null;
  const parts = [
    el("span", { id: "size" }, "list: ", el("b", {}, many(size)), ` of ${many(tr.variant.trg_words)} words (${percent(size / tr.variant.trg_words, 1)})`),
    el("span", { id: "kept" }, "keeps ", el("b", {}, percent(facts.mean)), ` of the probability, at least ${percent(facts.kept[facts.worst])} (word ${facts.worst + 1})`),
    el("span", { id: "same" }, facts.differs < 0 ? el("span", { class: "good" }, "\u2713 the same translation")
      : el("span", { class: "bad" }, `\u2717 differs from word ${facts.differs + 1} on`)),
    lost !== null && el("span", { id: "lost" }, `missing: `, wordButton(lost, "missing"), tr.need(lost) === Infinity ? " (never linked)" : ` (from n = ${tr.need(lost)})`),
  ];
  byId("facts").replaceChildren(...parts.filter(Boolean));
}

function drawTabs() {
  const tabs = Object.entries(VIEWS).filter(([, [, , there]]) => there(trace()));
  byId("tabs").replaceChildren(...tabs.map(([view, [name]]) => el("button", { type: "button", role: "tab", "aria-selected": String(state.view === view), "aria-controls": "view",
    "data-key": `tab-${view}`, onclick: () => go({ view }) }, name)));
}

// Stepping

function stepStage(by) {
  const last = trace().path(state.path, state.n).length;
  let { step, stage } = state;
  stage += by;
  if (stage < 0 && step > 0) { step -= 1; stage = stagesOf(step).length - 1; }
  else if (stage >= stagesOf(step).length && step < last) { step += 1; stage = 0; }
  go({ step, stage, view: "step" });
  say();
}

function stepWord(by) {
  go({ step: state.step + by, stage: state.step + by <= 0 || state.step === 0 ? 0 : state.stage });
  say();
}

function say() {
  const at = where(), stage = stagesOf(state.step)[state.stage];
  byId("said").textContent = `${state.step ? `word ${state.step}, ${at.word}` : "the sentence"}: ${stage.name}, ${stage.about(at)}`;
}

function pressed(event) {
  if (event.key === "Escape") { byId("share").open = false; return go({ word: null, source: null }); }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const last = trace().path(state.path, state.n).length;
  const acts = {
    ArrowRight: () => (event.shiftKey ? stepWord(1) : stepStage(1)), ArrowLeft: () => (event.shiftKey ? stepWord(-1) : stepStage(-1)),
    Home: () => go({ step: 0, stage: 0 }), End: () => go({ step: last, stage: stagesOf(last).length - 1 }),
  };
  if (!acts[event.key] || event.target.closest("[id=tree]")) return;
  event.preventDefault();
  acts[event.key]();
}

// Saving and sharing

function save(name, type, text) {
  const link = el("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// All pictures of the view, one below the other, with their colours written into them.
function asSvg() {
  const pictures = [...byId("view").querySelectorAll("svg")], gap = 10;
  const width = Math.max(0, ...pictures.map((p) => p.width.baseVal.value)) + 2 * gap;
  let y = 50;
  const copies = pictures.map((p) => {
    const copy = p.cloneNode(true), old = [p, ...p.querySelectorAll("*")], fresh = [copy, ...copy.querySelectorAll("*")];
    old.forEach((node, k) => {
      const style = getComputedStyle(node);
      for (const name of ["fill", "stroke", "font-family"]) if (!(node.tagName === "svg")) fresh[k].setAttribute(name, style.getPropertyValue(name));
      for (const name of [...fresh[k].getAttributeNames()].filter((each) => /^(class|role|tabindex|data-|aria-)/.test(each))) fresh[k].removeAttribute(name);
    });
    copy.setAttribute("x", gap);
    copy.setAttribute("y", y);
    y += p.height.baseVal.value + gap;
    return copy;
  });
  const stage = state.view === "step" ? `, word ${state.step}, ${stagesOf(state.step)[state.stage].name}` : "";
  const title = `${trace().source} (${VIEWS[state.view][0]}${stage}${state.n ? `, n = ${state.n}` : ""})`;
  const whole = mark("svg", { xmlns: SVG, width: Math.max(width, 500), height: y + gap, viewBox: `0 0 ${Math.max(width, 500)} ${y + gap}` },
    mark("rect", { width: "100%", height: "100%", fill: colour("paper") }), mark("text", { x: gap, y: 30, "font-size": 18, "font-family": "sans-serif", fill: colour("ink") }, title), copies);
  return new XMLSerializer().serializeToString(whole);
}

function copyLink() {
  const done = (text) => { byId("copy").textContent = text; };
  writeAddress();
  if (!navigator.clipboard) return done("the address bar has the link");
  navigator.clipboard.writeText(location.href).then(() => done("copied"), () => done("the address bar has the link"));
}

// Light and dark

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) { document.documentElement.dataset.theme = theme; }
function preferredTheme() { return prefersDark.matches ? "dark" : "light"; }

// With `explore --serve`: other sentences, another n, a forced word

async function askServer(question) {
  const note = byId("note");
  note.hidden = false;
  note.textContent = "translating ...";
  try {
    const response = await fetch("trace", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    page.variants = answer.variants;
    const same = page.sentences.findIndex((each) => each.source === answer.sentence.source);
    if (same >= 0) page.sentences[same] = answer.sentence; else page.sentences.push(answer.sentence);
    cache.clear();
    pickSentences();
    return same >= 0 ? same : page.sentences.length - 1;
  } catch (error) {
    note.textContent = error.message;
    return null;
  }
}

async function translateTyped(event) {
  event.preventDefault();
  const sentence = await askServer({ sentence: byId("typed").value, n: state.n });
  if (sentence !== null) go({ sentence, step: 0, stage: 0, word: null, source: null });
}

async function force(word) {
  const tr = trace(), before = tr.path(state.path, state.n).slice(0, state.step - 1).map((node) => tr.word(node));
  const sentence = await askServer({ sentence: tr.source, n: state.n, forced: [...before, word], variant: state.variant });
  if (sentence !== null) go({ sentence, word: null });
}

async function anyN(event) {
  event.preventDefault();
  const n = Number(byId("n-exact").value);
  if (!Number.isInteger(n) || n < 1) return;
  if (trace().lists.ns.includes(n)) return go({ n });
  const sentence = await askServer({ sentence: trace().source, n, forced: trace().forced, variant: state.variant });
  if (sentence !== null) go({ sentence, n });
}

function pickSentences() {
  const picks = (id, options, chosen, key) => {
    const select = byId(id);
    select.replaceChildren(...options.map((text, k) => el("option", { value: k }, text)));
    select.value = chosen;
    byId(`${id}-pick`).hidden = options.length < 2;
    select.onchange = () => go({ [key]: Number(select.value), step: 0, stage: 0, word: null, source: null });
  };
  picks("sentence", page.sentences.map((each) => each.source), state.sentence, "sentence");
  picks("variant", page.variants.map((each) => each.name), state.variant, "variant");
}

function begin() {
  setTheme(preferredTheme());
  prefersDark.addEventListener("change", () => { setTheme(preferredTheme()); render(); });
  readAddress();
  settle();
  pickSentences();
  byId("n").addEventListener("input", (event) => go({ n: trace().stop(Number(event.target.value), Number(event.target.value) > state.n) }));
  byId("theme").addEventListener("click", () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); render(); });
  byId("why-close").addEventListener("click", () => go({ word: null, source: null }));
  byId("copy").addEventListener("click", copyLink);
  byId("save-svg").addEventListener("click", () => save("minnmt.svg", "image/svg+xml", asSvg()));
  byId("save-json").addEventListener("click", () => save("minnmt.json", "application/json", JSON.stringify({ state, variant: page.variants[state.variant], trace: page.sentences[state.sentence].traces[state.variant] })));
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", () => { readAddress(); settle(); pickSentences(); render(); });
  addEventListener("resize", render);
  if (page.served) {
    byId("ask").hidden = false;
    byId("ask").addEventListener("submit", translateTyped);
    byId("exact").hidden = !trace().lists;
    byId("exact").addEventListener("submit", anyN);
    byId("n-exact").addEventListener("change", anyN);
  }
  render();
}

begin();
