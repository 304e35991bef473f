// Figures that move: one line chart of the numbers of a csv, and a control for each column to choose from.
// Without this script only the published figure is shown.
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"], DASHES = ["", "7 4", "2 3", "8 3 2 3"];
const HEIGHT = 380, LEFT = 70, RIGHT = 20, TOP = 24, BOTTOM = 48;
const SVG = "http://www.w3.org/2000/svg";
const number = (text) => (text === "" || Number.isNaN(Number(text)) ? text : Number(text));
const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

function draw(svg, plot, chosen) {
  const WIDTH = svg.viewBox.baseVal.width;
  const add = (name, attributes, text = "") => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return svg.appendChild(node);
  };
  const at = (name) => plot.columns.indexOf(name), name = (column) => plot.names[column] ?? column;
  const fits = (row) => plot.choose.every((column) => row[at(column)] === chosen[column]);
  const scale = (column, from, to) => { // over all rows, so that axes stay while a reader chooses
    const log = plot.log.includes(column) ? Math.log10 : (x) => x;
    const values = plot.rows.map((row) => row[at(column)]).filter((v) => typeof v === "number" && (log === Math.log10 ? v > 0 : true));
    const low = log === Math.log10 ? log(Math.min(...values)) : Math.min(0, ...values), high = log(Math.max(...values));
    const place = (value) => from + ((log(value) - low) / (high - low || 1)) * (to - from);
    const step = Math.max(1, Math.ceil((Math.floor(high) - Math.ceil(low) + 1) / 6));
    const ticks = log === Math.log10
      ? Array.from({ length: 40 }, (_, i) => Math.ceil(low) + i * step).filter((e) => e <= high).map((e) => 10 ** e)
      : Array.from({ length: 5 }, (_, i) => low + (i * (high - low)) / 4);
    return { place, ticks };
  };
  const x = scale(plot.x, LEFT, WIDTH - RIGHT), y = scale(plot.y, HEIGHT - BOTTOM, TOP);
  const label = (value) => (value >= 1e4 || value < 1e-2 && value > 0 ? value.toExponential(0).replace("e+", "e") : String(+value.toPrecision(2)));
  svg.replaceChildren();
  for (const tick of x.ticks) {
    add("line", { x1: x.place(tick), x2: x.place(tick), y1: TOP, y2: HEIGHT - BOTTOM, stroke: "currentColor", "stroke-opacity": .15 });
    add("text", { x: x.place(tick), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, label(tick));
  }
  for (const tick of y.ticks) {
    add("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y.place(tick), y2: y.place(tick), stroke: "currentColor", "stroke-opacity": .15 });
    add("text", { x: LEFT - 8, y: y.place(tick) + 4, "text-anchor": "end" }, label(tick));
  }
  add("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, name(plot.x));
  add("text", { x: 16, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${HEIGHT / 2})` }, name(plot.y));
  const lines = [...new Set(plot.rows.map((row) => row[at(plot.line)]))].sort(order);
  let shown = 0;
  lines.forEach((line, i) => {
    const rows = plot.rows.filter((row) => fits(row) && row[at(plot.line)] === line)
      .filter((row) => !plot.log.includes(plot.x) || row[at(plot.x)] > 0).sort((a, b) => a[at(plot.x)] - b[at(plot.x)] || b[at(plot.y)] - a[at(plot.y)]);
    if (!rows.length) return;
    const points = rows.map((row) => [x.place(row[at(plot.x)]), y.place(row[at(plot.y)])].map((v) => v.toFixed(1)));
    const path = plot.steps ? points.map(([px, py], j) => (j ? `V${py}H${px}` : `M${px} ${py}`)).join("") : `M${points.map((p) => p.join(" ")).join("L")}`;
    const look = { fill: "none", stroke: plot.colours[line] ?? COLOURS[i % COLOURS.length], "stroke-width": 2.2, "stroke-dasharray": DASHES[i % DASHES.length] };
    add("path", { d: path, ...look });
    const start = LEFT + (shown * (WIDTH - LEFT)) / lines.length;
    add("path", { d: `M${start} 12h18`, ...look });
    add("text", { x: start + 22, y: 16 }, typeof line === "number" ? `${name(plot.line)} = ${line}` : line);
    shown += 1;
  });
}

for (const box of document.querySelectorAll(".explore")) {
  const plot = JSON.parse(box.dataset.plot), form = document.createElement("form"), svg = document.createElementNS(SVG, "svg");
  plot.rows = plot.rows.map((row) => row.map(number));
  svg.setAttribute("role", "img");
  const chosen = {};
  const controls = plot.choose.map((column) => {
    const values = [...new Set(plot.rows.map((row) => row[plot.columns.indexOf(column)]))];
    if (values.every((value) => typeof value === "number")) values.sort(order);
    const slides = values.every((value) => typeof value === "number");
    const control = document.createElement(slides ? "input" : "select"), label = document.createElement("label"), output = document.createElement("output");
    control.name = column;
    if (slides) Object.assign(control, { type: "range", min: 0, max: values.length - 1, step: 1, value: 0 });
    else control.append(...values.map((value, i) => new Option(plot.words[value] ?? value, i)));
    label.append(`${plot.names[column] ?? column} `, control, " ", output);
    form.append(label);
    return () => {
      chosen[column] = values[control.value];
      if (slides) output.textContent = chosen[column];
    };
  });
  const update = () => {
    svg.setAttribute("viewBox", `0 0 ${Math.max(320, Math.min(720, form.clientWidth))} ${HEIGHT}`); // type as large on a phone
    for (const read of controls) read();
    draw(svg, plot, chosen);
    svg.setAttribute("aria-label", `${plot.y} against ${plot.x}; ${plot.choose.map((column) => `${column} ${chosen[column]}`).join(", ")}`);
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  box.append(form, svg);
  box.hidden = false;
  new ResizeObserver(update).observe(box); // also at once
}
