// With `explore --serve`: other sentences, another n, a forced word

async function askServer(question) {
  const note = byId("note");
  note.hidden = false;
  note.textContent = "translating ...";
  try {
    const response = await fetch("trace", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    page.variants = answer.variants;
    const same = page.sentences.findIndex((each) => each.source === answer.sentence.source);
    if (same >= 0) page.sentences[same] = answer.sentence;
    else page.sentences.push(answer.sentence);
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
  const tr = trace(),
    before = tr
      .path(state.path, state.n)
      .slice(0, state.step - 1)
      .map((node) => tr.word(node));
  const sentence = await askServer({
    sentence: tr.source,
    n: state.n,
    forced: [...before, word],
    variant: state.variant,
  });
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
