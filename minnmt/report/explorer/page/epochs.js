// The matrix of counts as it fills, epoch after epoch.

let playing = null;

function fillingView() {
  const tr = trace(),
    { epochs, units, targets, counts } = tr.filling,
    e = Math.min(state.epoch ?? epochs.length - 1, epochs.length - 1);
  const slider = el("input", {
    type: "range",
    id: "epoch",
    min: 0,
    max: epochs.length - 1,
    step: 1,
    value: e,
    "data-key": "epoch",
    "aria-label": "epoch",
    oninput: (event) => go({ epoch: Number(event.target.value) }),
  });
  const play = el("button", { type: "button", "data-key": "play", onclick: playEpochs }, playing ? "stop" : "play");
  return [
    el("div", { class: "controls" }, play, el("label", { for: "epoch" }, `after epoch ${epochs[e]}`), slider),
    el(
      "p",
      { class: "prose" },
      "Training adds the attention weights up, epoch after epoch. Here are the counts of five words of the sentence with " +
        "their likeliest targets: the stronger the colour, the larger the share of the source word's count at the end.",
    ),
    el("div", { class: "scroll" }, fillingPicture(tr, units, targets, counts, e)),
    el("p", { class: "formula" }, "count[f, e] += alpha, where alpha > threshold  (18)"),
  ];
}

function fillingPicture(tr, units, targets, counts, e) {
  const left = 118,
    top = 44,
    wide = Math.max(52, Math.min(150, Math.floor((roomFor() - left) / units.length))),
    high = 34;
  const zero = rgb("paper"),
    one = rgb("blue"),
    text = { light: colour("ink"), dark: colour("paper") };
  return picture(
    left + wide * units.length + 4,
    top + high * targets.length + 4,
    `counts after epoch ${tr.filling.epochs[e]}`,
    units.map((unit, w) =>
      mark(
        "text",
        {
          x: left + w * wide + wide / 2,
          y: 28,
          "font-size": wide < 80 ? 13 : 17,
          "font-weight": 700,
          "text-anchor": "middle",
        },
        short(shown(unit), wide / 9),
      ),
    ),
    targets.map((target, k) => [
      spot(
        `target ${tr.spell(target)}`,
        `target-${target}`,
        () => askWord(target),
        mark(
          "text",
          { class: "spot", x: left - 8, y: top + k * high + 22, "font-size": 16, "text-anchor": "end" },
          short(tr.spell(target), 12),
        ),
      ),
      units.map((_, w) => {
        const count = counts[e][w][k],
          share = Math.sqrt(count / (tr.filling.totals[w] || 1));
        return [
          mark("rect", {
            class: "cell",
            x: left + w * wide + 1,
            y: top + k * high + 1,
            width: wide - 2,
            height: high - 2,
            fill: mix(zero, one, share),
            stroke: "var(--line)",
          }),
          count > 0 &&
            mark(
              "text",
              {
                x: left + w * wide + wide / 2,
                y: top + k * high + 22,
                "font-size": 15,
                "text-anchor": "middle",
              },
              tspan(count, share > 0.55 ? text.dark : text.light),
            ),
        ];
      }),
    ]),
  );
}

function tspan(count, fill) {
  return mark("tspan", { fill }, count < 100 ? String(Number(count.toPrecision(3))) : many(Math.round(count)));
}

function playEpochs() {
  const epochs = trace().filling.epochs;
  clearInterval(playing);
  if (playing) {
    playing = null;
    return render();
  }
  let e = 0;
  go({ epoch: e });
  playing = setInterval(() => {
    e += 1;
    if (e >= epochs.length - 1 || state.view !== "counts") {
      clearInterval(playing);
      playing = null;
    }
    if (state.view === "counts") go({ epoch: Math.min(e, epochs.length - 1) });
  }, 900);
  render();
}
