// What the data say: paths through the tree of hypotheses, lists and their probabilities for every n.

const page = JSON.parse(document.getElementById("data").textContent);
const EOS = 0,
  UNK = 1;

class Trace {
  constructor(record, variant) {
    Object.assign(this, record);
    this.variant = variant;
    this.limits = variant.lists;
    this.needs = new Map();
    if (this.lists) this.readCounts();
  }

  // The smallest n that brings each word, from the ranks of its links.
  readCounts() {
    const { counts } = this.lists,
      columns = new Map();
    counts.words = numbers(counts.words);
    counts.sums = numbers(counts.sums);
    counts.words.forEach((word, k) => columns.set(word, counts.sums[k]));
    this.links = new Map(); // target id -> its links with source words
    this.rowLinks = new Map(); // row -> its links, best first
    for (const row of counts.rows) {
      for (const name of ["ids", "ranks", "counts", "back"]) row[name] = numbers(row[name]);
      row.unit = this.units[this.ids.indexOf(row.id)];
      const links = row.ids.map((word, k) => {
        const rank = row.ranks[k],
          count = row.counts[k];
        const link = {
          row,
          word,
          rank,
          count,
          back: row.back[k],
          pTrg: count / row.sum,
          pSrc: count / columns.get(word),
        };
        link.below = (this.limits.by === "source" ? link.pTrg : link.pSrc) < this.limits.min_prob;
        if (!this.links.has(word)) this.links.set(word, []);
        this.links.get(word).push(link);
        return link;
      });
      this.rowLinks.set(row, links);
    }
    for (const [word, links] of this.links) {
      links.sort((a, b) => a.rank - b.rank);
      this.needs.set(word, Math.min(...links.filter((link) => !link.below).map((link) => link.rank)));
    }
  }

  always(word) {
    if (word === EOS) return "eos";
    if (word === UNK) return "UNK";
    if (word < 2 + this.limits.frequent) return `one of the ${this.limits.frequent} most frequent words`;
    return "";
  }

  need(word) {
    return this.always(word) || this.forced.includes(word) ? 0 : (this.needs.get(word) ?? Infinity);
  }

  // As Ranking.why_missing.
  whyMissing(word) {
    if (Number.isFinite(this.need(word))) return `from n = ${this.need(word)}`;
    return this.links.has(word) ? "below --min-prob" : "never linked";
  }

  // The links through which a source unit brings words to the list of n.
  brings(row, n) {
    return this.rowLinks.get(row).filter((link) => link.rank <= n && !link.below);
  }

  listed(word, n) {
    return this.need(word) <= n;
  }
  spell(word) {
    return shown(this.words[word] ?? `word ${word}`);
  }
  listSize(n) {
    return this.lists.sizes[this.lists.ns.indexOf(n)];
  }

  // The n that there is nearest to this one, going up or down.
  stop(n, up = false) {
    const ns = this.lists.ns;
    return (up ? ns.find((each) => each >= n) : ns.findLast((each) => each <= n)) ?? (n < ns[0] ? ns[0] : ns.at(-1));
  }

  // Searches: "full" over all words, "list" over the list of n.
  search(which, n) {
    if (which === "full" || !this.lists) return this.full;
    return this.lists.searches.findLast((search) => search.from <= n);
  }

  parent(node) {
    return this.nodes.parents[node - 1];
  }
  word(node) {
    return this.nodes.words[node - 1];
  }

  // The nodes from the first word to this one.
  way(node) {
    const nodes = [];
    for (let at = node; at !== 0; at = this.parent(at)) nodes.unshift(at);
    return nodes;
  }

  path(which, n) {
    return this.way(this.search(which, n).winner);
  }

  // The node before each of a path.
  befores(path) {
    return [0, ...path.slice(0, -1)];
  }

  // The words of a translation, without its eos.
  text(path) {
    return path
      .slice(0, -1)
      .map((node) => this.spell(this.word(node)))
      .join(" ");
  }

  // The probability that the list of n keeps of the softmax after this node.
  kept(node, n) {
    const pairs = this.lists.mass[node] ?? [];
    let lost = 0;
    for (let k = 0; k < pairs.length && pairs[k] <= n; k += 2) lost = pairs[k + 1];
    return lost < 0 ? -lost : 1 - lost / 1e7; // as listing.changes() writes it
  }

  // ln p of a node's last word, and of all its words: (12), or (21), which is (12) divided by what the list keeps.
  wordLogp(node, which, n) {
    const full = this.nodes.logps[node - 1];
    return which === "full" || !this.lists ? full : full - Math.log(this.kept(this.parent(node), n));
  }

  logp(node, which, n) {
    return this.way(node).reduce((sum, at) => sum + this.wordLogp(at, which, n), 0);
  }

  score(node, which, n) {
    // (17)
    return this.logp(node, which, n) / this.way(node).length ** this.variant.length_penalty;
  }

  // The best words of the softmax after a node: [{word, p}].
  best(node, which, n, most = 10) {
    const [ids, logps] = this.steps[node].best;
    const all = ids.map((word, k) => ({ word, p: Math.exp(logps[k]) }));
    if (which === "full") return all.slice(0, most);
    const kept = this.kept(node, n);
    return all
      .filter((each) => this.listed(each.word, n))
      .slice(0, most)
      .map(({ word, p }) => ({ word, p: p / kept }));
  }

  // What the list of n changes.
  compare(n) {
    const full = this.path("full", n),
      list = this.path("list", n);
    const words = (path) => path.map((node) => this.word(node));
    const [a, b] = [words(full), words(list)];
    const differs = a.findIndex((word, t) => word !== b[t]);
    const missing = a.findIndex((word) => !this.listed(word, n));
    const kept = this.befores(full).map((node) => this.kept(node, n));
    const worst = kept.indexOf(Math.min(...kept));
    return { full, list, differs, missing, kept, worst, mean: kept.reduce((x, y) => x + y, 0) / kept.length };
  }
}

// Words as labels: the tokenizer's joiner is in few fonts, a small square in most.
function shown(word) {
  return word.replaceAll("\uFFED", "\u25AA");
}

// Numbers

function percent(x, digits = 2) {
  return `${x < 0.01 ? general(100 * x, digits + 1) : (100 * x).toFixed(digits)} %`;
}
function many(x) {
  return x.toLocaleString("en-US");
}

// As Python's %g writes it.
function general(x, digits) {
  if (x === 0) return "0";
  const power = Number(x.toExponential(digits - 1).split("e")[1]);
  if (power >= -4 && power < digits) return String(Number(x.toPrecision(digits)));
  const part = x.toExponential(digits - 1).split("e")[0];
  return `${Number(part)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

// [type, bytes in base64] -> numbers; what are numbers already stays
function numbers(packed) {
  if (typeof packed[0] !== "string") return packed;
  const kind = { f4: Float32Array, u2: Uint16Array, i4: Int32Array }[packed[0]];
  return Array.from(new kind(Uint8Array.from(atob(packed[1]), (c) => c.charCodeAt(0)).buffer));
}

// A packed vector -> {size, values}
function unpack([size, largest, bytes]) {
  return { size, largest, values: Array.from(atob(bytes), (c) => ((c.charCodeAt(0) - 128) / 127) * largest) };
}
