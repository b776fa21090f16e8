// Saving the picture and the data, a link to the state, light and dark.

function save(name, type, text) {
  const link = el("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function pictures() {
  return [...byId("view").querySelectorAll("svg:not(.swatch)")];
}

// All pictures of the view, one below the other, with their colours written into them.
function asSvg() {
  const all = pictures(),
    gap = 10;
  const width = Math.max(0, ...all.map((p) => p.width.baseVal.value)) + 2 * gap;
  let y = 50;
  const copies = all.map((p) => {
    const copy = p.cloneNode(true),
      old = [p, ...p.querySelectorAll("*")],
      fresh = [copy, ...copy.querySelectorAll("*")];
    old.forEach((node, k) => {
      const style = getComputedStyle(node);
      for (const name of ["fill", "stroke", "font-family"])
        if (!(node.tagName === "svg")) fresh[k].setAttribute(name, style.getPropertyValue(name));
      for (const name of [...fresh[k].getAttributeNames()].filter((each) =>
        /^(class|role|tabindex|data-|aria-)/.test(each),
      ))
        fresh[k].removeAttribute(name);
    });
    copy.setAttribute("x", gap);
    copy.setAttribute("y", y);
    y += p.height.baseVal.value + gap;
    return copy;
  });
  const stage = state.view === "step" ? `, word ${state.step}, ${stagesOf(state.step)[state.stage].name}` : "";
  const title = `${trace().source} (${VIEWS[state.view][0]}${stage}${state.n ? `, n = ${state.n}` : ""})`;
  const whole = mark(
    "svg",
    { xmlns: SVG, width: Math.max(width, 500), height: y + gap, viewBox: `0 0 ${Math.max(width, 500)} ${y + gap}` },
    mark("rect", { width: "100%", height: "100%", fill: colour("paper") }),
    mark("text", { x: gap, y: 30, "font-size": 18, "font-family": "sans-serif", fill: colour("ink") }, title),
    copies,
  );
  return new XMLSerializer().serializeToString(whole);
}

function copyLink() {
  const done = (text) => {
    byId("copy").textContent = text;
  };
  writeAddress();
  if (!navigator.clipboard) return done("the address bar has the link");
  navigator.clipboard.writeText(location.href).then(
    () => done("copied"),
    () => done("the address bar has the link"),
  );
}

// Light and dark

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}
function preferredTheme() {
  return prefersDark.matches ? "dark" : "light";
}
