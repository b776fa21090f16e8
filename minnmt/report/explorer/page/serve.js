// With `explore --serve`: other sentences, another n, a forced word

// For the address: what the page has from the server, so that a link can ask for it again.
function askedOfServer() {
  const { asked, source, traces } = page.sentences[state.sentence],
    variant = traces.findIndex((each) => each.forced.length);
  if (!asked) return [];
  return [["typed", source], ...(variant < 0 ? [] : [["forced", [variant, ...traces[variant].forced].join("-")]])];
}

// Show what the address names, and ask the server for what only it has.
async function arrive() {
  const asked = new URLSearchParams(location.hash.slice(1));
  readAddress(asked);
  settle();
  pickSentences();
  render();
  if (!page.served || !asked.has("typed")) return;
  const [variant, ...forced] = (asked.get("forced") ?? "0").split("-").map(Number);
  const question = { sentence: asked.get("typed"), n: Number(asked.get("n")) || null, forced, variant };
  const sentence = await askServer(question);
  if (sentence === null) return;
  readAddress(asked);
  go({ sentence });
}

async function fromServer(question) {
  let response;
  try {
    response = await fetch("trace", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
    });
  } catch {
    throw new Error("the server does not answer: start explore --serve again");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function askServer(question) {
  const note = byId("note");
  note.hidden = false;
  note.textContent = "translating ...";
  try {
    const answer = await fromServer(question);
    answer.sentence.asked = true;
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
  await beginWith([...before, word]);
}

function takeBack() {
  return beginWith(trace().forced.slice(0, -1));
}

async function beginWith(forced) {
  const sentence = await askServer({ sentence: trace().source, n: state.n, forced, variant: state.variant });
  if (sentence !== null) go({ sentence, word: null });
}

async function anyN(event) {
  event.preventDefault();
  const n = Number(byId("n-exact").value);
  if (!Number.isInteger(n) || n < 1) return;
  if (lister().lists.ns.includes(n)) return go({ n });
  const sentence = await askServer({ sentence: trace().source, n, forced: trace().forced, variant: state.variant });
  if (sentence !== null) go({ sentence, n });
}
