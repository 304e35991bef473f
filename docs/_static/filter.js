// Filters of lists. Without this script all rows are shown.
for (const form of document.querySelectorAll("form.filter")) {
  const items = [...document.querySelectorAll(form.dataset.items)];
  const fields = [...form.elements].filter((field) => field.name);
  const texts = items.map((item) => `${item.dataset.words} ${item.textContent}`.toLowerCase());
  const more = form.querySelector("button[type=button]");
  let limit = Number(form.dataset.limit);
  const fits = (item, text) => fields.every(({ name, value }) => !value || (name === "words"
    ? value.toLowerCase().split(/\s+/).every((word) => text.includes(word))
    : item.dataset[name].split("|").includes(value)));
  const apply = () => {
    const fitting = items.filter((item, i) => fits(item, texts[i])), shown = new Set(fitting.slice(0, limit));
    for (const item of items) item.hidden = !shown.has(item);
    for (const group of document.querySelectorAll("[data-group]")) {
      group.hidden = items.every((item) => item.hidden || !group.contains(item));
    }
    more.hidden = shown.size === fitting.length;
    form.querySelector("output").textContent = `${fitting.length} of ${items.length}${more.hidden ? "" : `, the first ${limit} shown`}`;
  };
  const read = () => { // an address such as figures.html#paper=hu2021 names what to show
    const filters = location.hash.includes("=") ? location.hash.slice(1) : "";
    const target = filters ? null : document.getElementById(location.hash.slice(1));
    if (!filters && !target?.closest("[hidden]")) return;
    const wanted = new URLSearchParams(filters);
    for (const field of fields) field.value = wanted.get(field.name) ?? "";
    if (target) limit = Infinity;
    apply();
    target?.scrollIntoView();
  };
  form.addEventListener("input", () => {
    apply();
    history.replaceState(null, "", "#" + new URLSearchParams(fields.filter((f) => f.value).map((f) => [f.name, f.value])));
  });
  form.addEventListener("reset", () => setTimeout(() => { history.replaceState(null, "", "#"); apply(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { limit = Infinity; apply(); });
  addEventListener("hashchange", read);
  form.hidden = false;
  apply();
  read();
}
