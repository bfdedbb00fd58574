"use strict";
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const byId = (id) => document.getElementById(id);
  const plot = byId("plot"), detail = byId("detail"), across = byId("across"), up = byId("up"), only = byId("only");
  const buttons = [...byId("parts").children];
  let part = 0, chosen = null;

  const known = model.axes.filter((axis) => model.parts.some((p) => p.points.some((point) => point[axis.key] !== null)));
  for (const axis of known) for (const select of [across, up]) select.add(new Option(axis.title, axis.key));
  const has = (key) => known.some((axis) => axis.key === key);
  across.value = has("area") ? "area" : known[0].key;
  up.value = has("rate") ? "rate" : "cycles";

  const formats = [...new Set(model.parts.flatMap((p) => p.points.map((point) => point.format)))];
  const colour = (format) => "c" + (formats.indexOf(format) % 8);
  byId("legend").innerHTML = "";
  for (const format of formats) {
    const item = document.createElement("li");
    item.className = colour(format);
    item.append(document.createElement("i"), format);
    byId("legend").append(item);
  }

  const svg = (name, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const number = (value) => value === null ? "-" : value >= 1000 ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(4));
  const short = (value) => value >= 1e6 ? +(value / 1e6).toPrecision(3) + " M" : value >= 1e4 ? +(value / 1e3).toPrecision(3) + " k" : String(+value.toPrecision(4));

  function ticks(low, high) {
    const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    const found = [];
    for (let n = Math.ceil(low / step); n * step <= high + 1e-12 * step; n++) found.push(n * step);
    return found;
  }

  function scale(values, from, to) {
    let low = Math.min(...values), high = Math.max(...values);
    if (low > 0 && low < high / 2) low = 0;
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    low = low === 0 ? 0 : low - room;
    high += room;
    return { at: (v) => from + (to - from) * (v - low) / (high - low), ticks: ticks(low, high), low, high };
  }

  function draw() {
    const width = Math.max(320, plot.clientWidth), height = Math.max(320, Math.min(560, width * 0.5));
    const left = 66, right = width - 18, top = 16, bottom = height - 46;
    const x = across.value, y = up.value;
    const points = model.parts[part].points.filter((p) => p[x] !== null && p[y] !== null && (p.front || !only.checked));
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": "All points" });
    plot.replaceChildren(root);
    if (!points.length) {
      root.append(svg("text", { x: width / 2, y: height / 2, class: "title", "text-anchor": "middle" }, "no point has these figures"));
      return;
    }
    const h = scale(points.map((p) => p[x]), left, right), v = scale(points.map((p) => p[y]), bottom, top);
    for (const t of h.ticks) {
      root.append(svg("line", { x1: h.at(t), x2: h.at(t), y1: top, y2: bottom, class: "grid" }));
      root.append(svg("text", { x: h.at(t), y: bottom + 17, class: "tick", "text-anchor": "middle" }, short(t)));
    }
    for (const t of v.ticks) {
      root.append(svg("line", { x1: left, x2: right, y1: v.at(t), y2: v.at(t), class: "grid" }));
      root.append(svg("text", { x: left - 8, y: v.at(t) + 4, class: "tick", "text-anchor": "end" }, short(t)));
    }
    const title = (key) => known.find((axis) => axis.key === key).title;
    root.append(svg("text", { x: (left + right) / 2, y: height - 8, class: "title", "text-anchor": "middle" }, title(x)));
    root.append(svg("text", { x: left - 56, y: top - 3, class: "title" }, title(y)));
    if (x === "area" && h.high > 100 && h.low < 100) {
      root.append(svg("line", { x1: h.at(100), x2: h.at(100), y1: top, y2: bottom, class: "full" }));
      root.append(svg("text", { x: h.at(100) - 5, y: bottom - 6, class: "fullname", "text-anchor": "end" }, "the part is full"));
    }
    if (x === "area" && y === "rate") {
      const front = points.filter((p) => p.front).sort((a, b) => a.area - b.area || b.rate - a.rate);
      let best = -1, path = "";
      for (const p of front.filter((q) => q.rate > best && ((best = q.rate), true)))
        path += path ? `H${h.at(p.area)}V${v.at(p.rate)}` : `M${h.at(p.area)} ${v.at(p.rate)}`;
      if (path) root.append(svg("path", { d: path, class: "line" }));
    }
    for (const p of [...points].sort((a, b) => a.front - b.front)) {
      const dot = svg("g", { class: `dot ${colour(p.format)}${p.front ? " front" : ""}${p.fits ? "" : " large"}`, tabindex: 0, role: "button", "aria-label": p.name });
      dot.append(svg("circle", { cx: h.at(p[x]), cy: v.at(p[y]), r: p.front ? 7 : 4.5 }));
      dot.append(svg("title", {}, p.name));
      const choose = () => { chosen = p; show(); for (const other of root.querySelectorAll(".chosen")) other.classList.remove("chosen"); dot.classList.add("chosen"); };
      dot.addEventListener("click", choose);
      dot.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } });
      if (p === chosen) dot.classList.add("chosen");
      root.append(dot);
    }
  }

  function show() {
    const p = chosen, lines = document.createElement("div"), head = document.createElement("b"), command = document.createElement("pre");
    head.textContent = p.name + (p.front ? ", on the front" : p.fits ? "" : ", does not fit the part");
    const figures = [["samples per second", number(p.rate)], ["MHz", number(p.megahertz)], ["cycles", number(p.cycles)], ["latency", number(p.latency)],
      ["area", number(p.area) + " %"], ["LUT4", number(p.LUT)], ["FF", number(p.FF)], ["DSP", number(p.DSP)], ["RAM", number(p.RAM)]];
    if (p.metric !== null) figures.push(["metric", p.metric_text]);
    lines.textContent = figures.filter(([, text]) => text !== "-").map(([name, text]) => `${name} ${text}`).join(" · ") + ` · area and clock ${p.source}`;
    command.textContent = p.command;
    detail.replaceChildren(head, lines, command);
  }

  for (const [n, button] of buttons.entries()) button.addEventListener("click", () => {
    part = n;
    chosen = null;
    buttons.forEach((other, m) => other.setAttribute("aria-pressed", String(m === n)));
    draw();
  });
  for (const control of [across, up, only]) control.addEventListener("change", draw);
  new ResizeObserver(draw).observe(plot);
  draw();
})();
