// Search over WORDS, one row per section: page, anchor, title of the page, title, words.
const rows = WORDS.map(([page, anchor, name, title, text]) => ({
  page, anchor, name, title, text,
  heads: `${anchor && name !== title ? `${name} ` : ""}${title} ${page.split("/").slice(-1)[0].replaceAll("-", " ")}`.toLowerCase(),
  lower: `${title} ${text} ${page}`.toLowerCase(),
}));
const ofApi = (row) => row.page.startsWith("api/");

// 2 for a whole word (6 is not in 65, nor in 6.1), 1 for a part of one.
function hit(text, word) {
  let best = 0;
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) {
    const before = text[i - 1] ?? " ", after = text.slice(i + word.length, i + word.length + 2);
    if (!/[\p{L}\d]/u.test(before) && !/^([\p{L}\d]|\.\d)/u.test(after)) return 2;
    best = 1;
  }
  return best;
}

function find(query) {
  const phrase = query.toLowerCase().trim().replace(/\s+/g, " ");
  const words = phrase.split(" ");
  const found = [];
  for (const row of rows) {
    const hits = words.map((word) => hit(row.lower, word) || hit(row.heads, word));
    if (!phrase || hits.includes(0)) continue;
    if (words.some((word, i) => /^\d/.test(word) && hits[i] < 2)) continue;
    const head = hit(row.heads, phrase), body = hit(row.lower, phrase);
    const heads = words.filter((word) => hit(row.heads, word) === 2).length / words.length;
    const starts = row.title.toLowerCase().startsWith(phrase) ? 4 : 0;
    const score = 8 * head + starts + 6 * heads + 3 * body + hits.reduce((a, b) => a + b) / words.length
      - (ofApi(row) && !head ? 6 : 0) + 40 / (40 + row.text.length);
    found.push([score, row]);
  }
  return found.sort((a, b) => b[0] - a[0]).map(([, row]) => row);
}

// The words around the first hit, those looked for marked.
function excerpt(text, words, phrase) {
  const lower = text.toLowerCase();
  let at = lower.indexOf(phrase);
  if (at < 0) at = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((i) => i >= 0), text.length));
  const start = Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 60)) + 1), p = document.createElement("p");
  const part = text.slice(start, start + 220);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  for (const [i, piece] of part.split(new RegExp(`(${escaped})`, "gi")).entries()) {
    p.append(i % 2 ? Object.assign(document.createElement("mark"), { textContent: piece }) : piece);
  }
  p.prepend(start ? "… " : "");
  p.append(start + 220 < text.length ? " …" : "");
  return p;
}

const form = document.getElementById("find"), list = document.getElementById("found");
function show() {
  const query = form.q.value, phrase = query.toLowerCase().trim(), words = phrase.split(/\s+/);
  const found = phrase ? find(query) : [];
  form.parentElement.querySelector("output").textContent = phrase ? `${found.length} results` : "";
  list.replaceChildren(...found.slice(0, 50).map((row) => {
    const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
    link.href = `${row.page}.html${row.anchor ? `#${row.anchor}` : ""}`;
    link.textContent = row.title;
    where.textContent = row.name === row.title ? row.page : `${row.name} · ${row.page}`;
    item.append(link, " ", where, excerpt(row.text, words, phrase));
    return item;
  }));
  history.replaceState(null, "", phrase ? `?q=${encodeURIComponent(query)}` : "?");
}
form.q.value = new URLSearchParams(location.search).get("q") ?? "";
form.addEventListener("input", show);
form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
show();
