// Elements, and the small pictures: text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}
function mark(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}
function byId(id) {
  return document.getElementById(id);
}

// A table that scrolls sideways where it is too wide.
function scrolled(attributes, ...rows) {
  return el("div", { class: "scroll" }, el("table", attributes, ...rows));
}

function picture(width, height, label, ...children) {
  return mark(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label },
    ...children,
  );
}

function tip(text) {
  return mark("title", {}, text);
}

// Something in a picture that can be clicked, or chosen with Enter.
function spot(label, key, act, ...children) {
  const attributes = {
    role: "button",
    tabindex: 0,
    "aria-label": label,
    "data-key": key,
    onclick: act,
    onkeydown: (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      }
    },
  };
  return mark("g", act ? attributes : {}, ...children);
}

// Colours of the theme, as numbers, to mix

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function rgb(name) {
  const hex = colour(name).slice(1);
  return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

function mix(from, to, share) {
  const x = Math.max(0, Math.min(1, share));
  return `rgb(${from.map((c, k) => Math.round(c + (to[k] - c) * x)).join(",")})`;
}

// Of numbers from -1 to 1: orange below 0, blue above. A function, so that the theme is looked up once.
function cellColours() {
  const [zero, below, above] = ["paper", "orange", "blue"].map(rgb);
  return (x) => mix(zero, x < 0 ? below : above, Math.abs(x) ** 0.7);
}

function swatch(x) {
  const square = { x: 0.5, y: 0.5, width: 15, height: 15, fill: cellColours()(x), stroke: "var(--line)" };
  return mark("svg", { class: "swatch", width: 16, height: 16, "aria-hidden": "true" }, mark("rect", square));
}

// A vector as a strip of cells
function strip(name, about, packed, width) {
  const { size, values } = unpack(packed);
  const wide = width / values.length,
    colourOf = cellColours();
  const cells = values.map((x, k) =>
    mark(
      "rect",
      {
        x: (k * wide).toFixed(2),
        y: 24,
        width: (wide + 0.3).toFixed(2),
        height: 20,
        fill: colourOf(x),
      },
      tip(`${name}[${k}] = ${x.toFixed(2)}`),
    ),
  );
  const part = values.length < size ? `, the first ${values.length} of ${size}` : "";
  return picture(
    width,
    54,
    `${name}: ${about}, ${size} numbers`,
    mark("text", { x: 0, y: 17, "font-size": 16, "font-weight": 700 }, name),
    mark(
      "text",
      { x: 14 + 10 * name.length, y: 17, "font-size": 15, class: "soft" },
      short(about + part, (width - 20) / 8 - name.length),
    ),
    cells,
    mark("rect", { x: 0.5, y: 24.5, width: width - 1, height: 19, fill: "none", stroke: "var(--line)" }),
  );
}

function short(text, most) {
  return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "\u2026" : text;
}

// Rows of a label, a bar and a number: [{label, share, text, note, look, act, key}]; look: plain, list, missing, grey
const LOOKS = { plain: "var(--grey)", list: "var(--blue)", missing: "var(--orange)", grey: "var(--line)" };

function bars(title, rows, width, labelWidth = 120, noteWidth = 0) {
  const high = 30,
    top = title ? 28 : 2;
  const room = Math.max(20, width - labelWidth - 76 - noteWidth);
  return picture(
    width,
    top + high * rows.length,
    title || "bars",
    title && mark("text", { x: 0, y: 18, "font-size": 17, "font-weight": 700 }, title),
    rows.map((row, k) =>
      spot(
        `${row.label}: ${row.text}${row.note ? `, ${row.note}` : ""}`,
        row.key,
        row.act,
        mark("rect", {
          class: "spot",
          x: 0,
          y: top + high * k,
          width,
          height: high - 2,
          rx: 4,
          fill: row.now ? "var(--blue-soft)" : "transparent",
        }),
        mark(
          "text",
          { x: 4, y: top + high * k + 20, "font-size": 17, "font-weight": row.now ? 700 : 400 },
          short(row.label, labelWidth / 9.2),
        ),
        mark("rect", {
          x: labelWidth,
          y: top + high * k + 6,
          width: Math.max(1, room * row.share).toFixed(1),
          height: high - 14,
          rx: 2,
          fill: LOOKS[row.look ?? "plain"],
        }),
        row.look === "missing" &&
          room * row.share > 4 &&
          mark("path", {
            d: hatch(labelWidth, top + high * k + 6, Math.max(1, room * row.share), high - 14),
            stroke: "var(--paper)",
            "stroke-width": 1.5,
          }),
        mark(
          "text",
          { x: labelWidth + Math.max(1, room * row.share) + 8, y: top + high * k + 20, "font-size": 16 },
          row.text,
        ),
        row.note &&
          mark(
            "text",
            { x: width - 2, y: top + high * k + 20, "font-size": 15, "text-anchor": "end", class: "soft" },
            row.note,
          ),
      ),
    ),
  );
}

// Strokes across a bar, so that its colour is not all that tells it apart.
function hatch(x, y, width, height) {
  let path = "";
  for (let at = 4; at < width; at += 8) path += `M${x + at} ${y}l${-Math.min(4, at)} ${height}`;
  return path;
}

// How wide a picture in the view may be.
function roomFor(share = 1) {
  const wide = byId("view").clientWidth,
    inside = wide > 700 ? 36 : 20;
  return Math.max(240, Math.floor((wide - inside) * (wide > 700 ? share : 1) - (share < 1 && wide > 700 ? 18 : 0)));
}
