// The heat map of attention, and which of its cells would be counted.

function attentionView() {
  const tr = trace(),
    path = tr.path(state.path, state.n),
    steps = tr.befores(path).map((node) => tr.steps[node]);
  const words = path.map((node) => tr.word(node)),
    threshold = state.threshold;
  const cells = steps.flatMap((step, t) => step.alpha.map((alpha, i) => ({ alpha, t, i })));
  const counted = cells.filter((cell) => cell.alpha > threshold),
    weight = counted.reduce((sum, cell) => sum + cell.alpha, 0);
  const slider = el("input", {
    type: "range",
    id: "threshold",
    min: 0,
    max: 0.5,
    step: 0.01,
    value: threshold,
    "data-key": "threshold",
    oninput: (event) => go({ threshold: Number(event.target.value) }),
  });
  return [
    el(
      "div",
      { class: "controls" },
      pathChoice(),
      el("label", { for: "threshold" }, `counting threshold ${threshold.toFixed(2)}`),
      slider,
    ),
    el(
      "p",
      { id: "counted" },
      el("b", {}, `${counted.length} of ${cells.length} cells`),
      ` would be counted, with ${percent(weight / steps.length, 1)} of the attention.`,
    ),
    el("p", { class: "formula" }, "count[f, e] += alpha, where alpha > threshold  (18)"),
    el("div", { class: "scroll" }, drawnOnce(heatMap, tr, steps, words, threshold)),
    el(
      "p",
      { class: "readout", id: "cell" },
      "A row for every target word: the stronger the shade, the more attention. Framed cells with a dot are counted. " +
        "Point at a cell to read it.",
    ),
  ];
}

// The last picture, if nothing that it shows has changed: most steps of the slider for n change nothing here.
let drawn = { key: "", picture: null };

function drawnOnce(draw, tr, steps, words, threshold) {
  const looks = [state.sentence, state.variant, state.step, document.documentElement.dataset.theme, roomFor()];
  const key = JSON.stringify([looks, words, threshold, tr.source, tr.forced]);
  if (drawn.key !== key) drawn = { key, picture: draw(tr, steps, words, threshold) };
  return drawn.picture;
}

function heatMap(tr, steps, words, threshold) {
  const S = tr.units.length,
    left = 130,
    top = 104,
    cell = Math.max(24, Math.min(46, Math.floor((roomFor() - left - 40) / S)));
  const zero = rgb("paper"),
    one = rgb("ink");
  const columns = tr.units.map((unit, i) =>
    spot(
      `source unit ${shown(unit)}`,
      `column-${i}`,
      () => askSource(i),
      mark(
        "text",
        {
          class: `spot source-${i}`,
          "font-size": 16,
          transform: `translate(${left + i * cell + cell / 2 + 4} ${top - 8}) rotate(-55)`,
        },
        short(shown(unit), 12),
      ),
    ),
  );
  const rows = steps.map((step, t) => [
    spot(
      `target word ${t + 1}, ${tr.spell(words[t])}`,
      `row-${t}`,
      () => go({ step: t + 1, word: words[t], source: null }),
      mark(
        "text",
        {
          class: `spot target-${t}`,
          x: left - 8,
          y: top + t * cell + cell / 2 + 6,
          "font-size": 16,
          "text-anchor": "end",
          "font-weight": t + 1 === state.step ? 700 : 400,
        },
        short(tr.spell(words[t]), 13),
      ),
    ),
    step.alpha.map((alpha, i) =>
      mark(
        "g",
        { onpointerenter: () => pointAt(tr, words, t, i, alpha), onpointerleave: () => light([], []) },
        mark("rect", {
          x: left + i * cell + 1,
          y: top + t * cell + 1,
          width: cell - 2,
          height: cell - 2,
          fill: mix(zero, one, alpha),
          stroke: alpha > threshold ? "var(--orange)" : "var(--line)",
          "stroke-width": alpha > threshold ? 3 : 0.6,
        }),
        alpha > threshold &&
          mark("circle", {
            cx: left + i * cell + cell / 2,
            cy: top + t * cell + cell / 2,
            r: 3.5,
            fill: alpha > 0.5 ? "var(--paper)" : "var(--ink)",
          }),
        tip(`${tr.spell(words[t])} looks at ${shown(tr.units[i])}: ${alpha.toFixed(3)}`),
      ),
    ),
  ]);
  return picture(
    left + S * cell + 60,
    top + steps.length * cell + 6,
    "attention: a row for each target word, a column for each source unit",
    columns,
    rows,
  );
}

function pointAt(tr, words, t, i, alpha) {
  byId("cell").textContent =
    `${tr.spell(words[t])} (word ${t + 1}) looks at ${shown(tr.units[i])}: ${alpha.toFixed(4)}, ` +
    (alpha > state.threshold ? "counted" : "not counted");
  light([i], [t]);
}

// Show source units and target words, in the sentences above and at the edges of the heat map.
function light(sources, steps) {
  for (const node of document.querySelectorAll(".lit")) node.classList.remove("lit");
  const places = [
    ...sources.map((i) => `#lines [data-source="${i}"], #view .source-${i}`),
    ...steps.map((t) => `#lines [data-path="${state.path}"][data-step="${t + 1}"], #view .target-${t}`),
  ];
  for (const place of places) for (const node of document.querySelectorAll(place)) node.classList.add("lit");
}

// A source unit or a target word that is pointed at, and its partners above the threshold.
function lightSource(i) {
  const alphas = alphasOf();
  light(
    [i],
    range(alphas.length).filter((t) => alphas[t][i] > state.threshold),
  );
}

function lightTarget(t) {
  const alpha = alphasOf()[t];
  light(
    range(alpha.length).filter((i) => alpha[i] > state.threshold),
    [t],
  );
}

function alphasOf() {
  const tr = trace();
  return tr.befores(tr.path(state.path, state.n)).map((node) => tr.steps[node].alpha);
}

function range(n) {
  return Array.from({ length: n }, (_, k) => k);
}
