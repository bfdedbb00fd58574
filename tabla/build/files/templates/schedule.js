"use strict";
// The model is computed by tabla. This script only draws what is in view of it, and finds what is clicked.
const model = JSON.parse(document.getElementById("model").textContent);
const [START, END, NAME, SOURCE, LOOPS] = [0, 1, 2, 3, 4];
const ROW = 30, HEAD = 28, BAR = 22, WIDEST = 8e6, MOST = 48;
const scroller = document.getElementById("scroller"), spacer = document.getElementById("spacer");
const labels = document.getElementById("labels"), detail = document.getElementById("detail");
const span = model.end - model.first, height = HEAD + ROW * model.rows.length;
const svg = node("svg", { height, role: "img", "aria-label": "timeline" });
spacer.append(svg);
let scale = 1, pending = 0, chosen = null, moved = false;

function node(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}
function html(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");
const cycles = (start, end) => (end - start === 1 ? "cycle " + start : "cycles " + start + " to " + (end - 1)) + " (" + (end - start) + ")";
function sampleName(shift) {
  if (shift === 0) return "";
  const away = Math.abs(shift);
  return " of " + (away === 1 ? "the sample " : away + " samples ") + (shift < 0 ? "before" : "after");
}

// ---- the view: cycles `scroller.scrollLeft / scale + model.first` on, `scale` pixels a cycle
const left = () => scroller.scrollLeft / scale + model.first;
const least = () => Math.min(MOST, Math.max(1e-9, scroller.clientWidth / span));
function zoom(wanted, cycle, pixel) {
  scale = Math.max(least(), Math.min(wanted, MOST, Math.max(WIDEST / span, least())));
  spacer.style.width = Math.max(scroller.clientWidth, span * scale) + "px";
  scroller.scrollLeft = (cycle - model.first) * scale - pixel;
  later();
}
function zoomBy(factor, pixel = scroller.clientWidth / 2) { zoom(scale * factor, left() + pixel / scale, pixel); }
function show(begin, end) { zoom(scroller.clientWidth / Math.max(1, end - begin), begin, 0); }
function bring(begin, end) {
  const room = scroller.clientWidth;
  if ((end - begin) * scale < 24) zoom(Math.min(MOST, Math.max(scale, 60 / (end - begin))), (begin + end) / 2, room / 2);
  const from = (begin - left()) * scale, to = (end - left()) * scale;
  if (from < 0 || to > room) scroller.scrollLeft += (to - from > room ? from - 20 : (from + to) / 2 - room / 2);
}
function later() { if (!pending) pending = requestAnimationFrame(() => { pending = 0; draw(); }); }

// ---- drawing
function step(cyclesInView) {
  for (let ten = 1; ; ten *= 10) for (const factor of [1, 2, 5]) if (factor * ten * scale >= 56) return factor * ten;
}
function firstEnding(bars, cycle) {
  let low = 0, high = bars.length;
  while (low < high) { const middle = (low + high) >> 1; if (bars[middle][END] > cycle) high = middle; else low = middle + 1; }
  return low;
}
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = '12px system-ui, "DejaVu Sans", sans-serif';
const fits = (text, width) => ruler.measureText(text).width <= width;
function label(x, width, room, y, texts) {
  const from = Math.max(x, 0) + 4, space = Math.min(x + width, room) - from - 1;
  let text = space > 5 && texts.find((each) => fits(each, space));
  if (!text && space > 24) {
    text = texts[texts.length - 1];
    while (!fits(text + "…", space)) text = text.slice(0, -1);
    text += "…";
  }
  return text ? node("text", { x: from, y: y + BAR / 2 + 4 }, text) : null;
}
function box(kind, x, y, width, data) {
  const group = node("g", { class: kind, ...data });
  group.append(node("rect", { x, y, width, height: BAR }));
  return group;
}
function same(a, b) { return a && b && a.row === b.row && a.bar === b.bar && a.shift === b.shift; }
function drawRow(row, number, begin, end, room) {
  const y = HEAD + ROW * number + (ROW - BAR) / 2;
  const lowest = Math.ceil((begin - row.last) / model.cycles), highest = Math.floor((end - row.first) / model.cycles);
  for (let shift = lowest; row.bars.length && shift <= highest; shift++) {
    const away = shift * model.cycles;
    let painted = -Infinity;
    for (let n = firstEnding(row.bars, begin - away); n < row.bars.length && row.bars[n][START] + away < end; n++) {
      const bar = row.bars[n], x = (bar[START] + away - begin) * scale, width = Math.max(1.5, (bar[END] - bar[START]) * scale - 1);
      const mine = chosen && same(chosen.bar, { row: number, bar: n, shift });
      if (x + width < painted + 0.75 && !mine) continue;
      painted = x + width;
      const from = Math.max(x, -4), group = box("bar " + row.kind + (shift ? " faint" : "") + (mine ? " chosen" : ""),
        from, y, Math.max(1.5, Math.min(x + width, room + 4) - from), { "data-row": number, "data-bar": n, "data-shift": shift });
      const name = model.names[bar[NAME]], text = label(x, width, room, y, [name, name.split(" = ")[0], name.split(" ")[0]]);
      if (text) group.append(text);
      svg.append(group);
    }
  }
}
function drawWait(wait, number, begin, room) {
  const x = (wait.first - begin) * scale, width = (wait.end - wait.first) * scale - 1;
  if (width < 1 && !(chosen && chosen.wait === number)) return;
  const y = HEAD + ROW * wait.row + (ROW - BAR) / 2, from = Math.max(x, -4);
  const group = box("wait " + wait.kind + (chosen && chosen.wait === number ? " chosen" : ""), from, y,
    Math.max(1.5, Math.min(x + width, room + 4) - from), { "data-wait": number });
  const ground = group.firstChild.cloneNode(); ground.setAttribute("class", "ground"); group.prepend(ground);
  const long = wait.end - wait.first, text = label(x, width, room, y, [wait.short + " " + long, String(long)]);
  if (text) group.append(text);
  svg.append(group);
}
function drawLink(begin) {
  if (!chosen || !chosen.bar || chosen.wait === undefined) return;
  const wait = model.waits[chosen.wait], { row, bar, shift } = chosen.bar, target = model.rows[row].bars[bar];
  const away = shift * model.cycles, low = Math.max(wait.first, target[START] + away), high = Math.min(wait.end, target[END] + away);
  const to = ((low < high ? (low + high) / 2 : (target[START] + target[END]) / 2 + away) - begin) * scale;
  const from = low < high ? to : ((wait.first + wait.end) / 2 - begin) * scale, down = row > wait.row;
  const top = HEAD + ROW * wait.row + (down ? ROW - 3 : 3), bottom = HEAD + ROW * row + (down ? 3 : ROW - 3), half = (top + bottom) / 2;
  svg.append(node("path", { class: "link", d: `M${from} ${top} C${from} ${half} ${to} ${half} ${to} ${bottom}` }));
  svg.append(node("path", { class: "tip", d: `M${to} ${bottom} l-4 ${down ? -7 : 7} h8 z` }));
}
function draw() {
  const room = scroller.clientWidth, begin = left(), end = begin + room / scale;
  svg.setAttribute("width", room);
  svg.replaceChildren();
  const hatch = node("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  hatch.append(node("rect", { width: 1.5, height: 6 }));
  const defs = node("defs", {}); defs.append(hatch); svg.append(defs);
  model.rows.forEach((_, n) => { if (n % 2) svg.append(node("rect", { class: "band", x: 0, y: HEAD + ROW * n, width: room, height: ROW })); });
  const every = step();
  for (let cycle = Math.ceil(begin / every) * every; cycle <= end; cycle += every) {
    const x = (cycle - begin) * scale;
    svg.append(node("line", { class: "grid", x1: x, x2: x, y1: 20, y2: height }), node("text", { class: "tick", x, y: 15 }, cycle));
  }
  model.rows.forEach((row, n) => drawRow(row, n, begin, end, room));
  model.waits.forEach((wait, n) => { if (wait.end > begin && wait.first < end) drawWait(wait, n, begin, room); });
  if (model.cycles * scale > 24) for (let n = Math.ceil(begin / model.cycles); n * model.cycles <= end; n++) {
    const x = (n * model.cycles - begin) * scale;
    svg.append(node("line", { class: "token", x1: x, x2: x, y1: 20, y2: height }));
  }
  drawLink(begin);
  const x = (current + 0.5 - begin) * scale;
  svg.append(node("line", { class: "now", x1: x, x2: x, y1: 20, y2: height }));
}

// ---- the array and the program in one cycle
const parts = [...document.querySelectorAll(".drawing .lit")].map((each) => ({ each, rows: each.dataset.rows.split(" ").filter(Boolean).map(Number) }));
const program = document.getElementById("program"), slider = document.getElementById("cycle"), lines = new Map();
let current = Math.max(0, model.first), timer = 0;
function at(row, cycle) {
  const found = [];
  for (let shift = Math.ceil((cycle + 1 - row.last) / model.cycles); row.bars.length && shift <= Math.floor((cycle - row.first) / model.cycles); shift++) {
    const away = cycle - shift * model.cycles;
    for (let n = firstEnding(row.bars, away); n < row.bars.length && row.bars[n][START] <= away; n++)
      if (row.bars[n][END] > away) found.push({ bar: row.bars[n], shift });
  }
  return found;
}
function light(bars) {
  for (const line of lines.values()) line.classList.remove("lit", "faint");
  for (const { bar, shift } of bars) if (bar[SOURCE] >= 0) lines.get(model.sources[bar[SOURCE]].slice(0, 2).join(":"))?.classList.add(shift ? "faint" : "lit");
}
function follow() {
  const line = program.querySelector(".lit");
  if (!line) return;
  const from = line.offsetTop - program.offsetTop, room = program.clientHeight;
  if (from < program.scrollTop || from + line.offsetHeight > program.scrollTop + room) program.scrollTop = from - room / 2;
}
function go(cycle) {
  current = Math.max(model.first, Math.min(model.end - 1, cycle));
  const working = model.rows.map((row) => at(row, current));
  for (const { each, rows } of parts) {
    const found = rows.flatMap((row) => working[row]), mine = found.some((bar) => bar.shift === 0);
    each.classList.toggle("on", mine);
    each.classList.toggle("faint", !mine && found.length > 0);
  }
  light(working.flat());
  follow();
  slider.value = current;
  document.getElementById("now").textContent = "cycle " + current;
  later();
}
function run(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => go(current + 1 < model.end ? current + 1 : model.first), 160) : 0;
  document.getElementById("play").textContent = on ? "pause" : "play";
}
for (const { file, text } of model.program) {
  if (model.program.length > 1) program.append(html("div", file, "file"));
  for (const [number, line] of text) {
    const made = html("div", line || " ");
    made.dataset.number = number;
    const source = model.sources.findIndex((each) => each[0] === file && each[1] === number);
    if (source >= 0) {
      lines.set(file + ":" + number, made);
      made.classList.add("known");
      made.addEventListener("click", () => {
        for (let row = 0; row < model.rows.length; row++) {
          const bar = model.rows[row].bars.findIndex((each) => each[SOURCE] === source);
          if (bar < 0) continue;
          run(false);
          choose({ bar: { row, bar, shift: 0 } });
          bring(model.rows[row].bars[bar][START], model.rows[row].bars[bar][END]);
          go(model.rows[row].bars[bar][START]);
          return;
        }
      });
    }
    program.append(made);
  }
}
if (!model.program.length) program.remove();

// ---- what a bar or an idle time is, in words
function sourceOf(index) {
  const [file, line, text] = model.sources[index];
  return html("pre", file + ":" + line + "   " + text);
}
function describeBar({ row, bar, shift }) {
  const found = model.rows[row].bars[bar], away = shift * model.cycles, head = html("div");
  const parts = [html("b", model.names[found[NAME]])];
  head.textContent = model.rows[row].name + ", " + cycles(found[START] + away, found[END] + away) + sampleName(shift)
    + (found[LOOPS] < 0 ? "" : ", " + model.names[found[LOOPS]]);
  parts.push(head, html("div", model.about[model.rows[row].kind]));
  if (found[SOURCE] >= 0) parts.push(sourceOf(found[SOURCE]));
  return parts;
}
function describeWait(number) {
  const wait = model.waits[number], line = html("b");
  line.textContent = model.rows[wait.row].name + " wait for " + wait.reason + ": " + cycles(wait.first, wait.end);
  if (!wait.bar) return [line];
  const [first, ...rest] = describeBar(wait.bar), what = html("div", "there: ");
  what.append(first);
  return [line, what, ...rest];
}
function tell(what) {
  if (!what) {
    detail.replaceChildren(html("div", "Point at a bar to read what it does and which line of the program it comes from. Click hatched time to go to what it waits for."));
  } else detail.replaceChildren(...(what.wait !== undefined ? describeWait(what.wait) : describeBar(what.bar)));
}
function read(target) {
  const group = target.closest ? target.closest("[data-wait], [data-bar]") : null;
  if (!group) return null;
  if (group.dataset.wait !== undefined) return { wait: +group.dataset.wait };
  return { bar: { row: +group.dataset.row, bar: +group.dataset.bar, shift: +group.dataset.shift } };
}
function choose(what) {
  chosen = what;
  if (what && what.wait !== undefined) {
    const wait = model.waits[what.wait];
    chosen = { wait: what.wait, bar: wait.bar };
    if (wait.bar) {
      const target = model.rows[wait.bar.row].bars[wait.bar.bar], away = wait.bar.shift * model.cycles;
      bring(target[START] + away, target[END] + away);
    } else bring(wait.first, wait.end);
    document.body.dataset.at = wait.bar ? model.rows[wait.bar.row].name : "";
  }
  tell(chosen);
  if (chosen && chosen.bar) {
    const { row, bar, shift } = chosen.bar;
    run(false);
    go(model.rows[row].bars[bar][START] + shift * model.cycles);
  }
  later();
}
function idle(forward) {
  if (!model.waits.length) return;
  const now = chosen && chosen.wait !== undefined ? chosen.wait : forward ? -1 : model.waits.length;
  choose({ wait: (now + (forward ? 1 : -1) + model.waits.length) % model.waits.length });
}

// ---- input
for (const row of model.rows) {
  labels.append(Object.assign(html("div", row.name, row.kind), { title: row.name }));
  row.first = row.bars.length ? row.bars[0][START] : 0;
  row.last = row.bars.reduce((most, bar) => Math.max(most, bar[END]), 0);
}
model.waits = model.waits.map(([row, first, end, reason, target, bar, shift]) => ({
  row, first, end, ...model.reasons[reason], bar: target < 0 ? null : { row: target, bar, shift },
}));
svg.addEventListener("pointerover", (event) => tell(read(event.target) ?? chosen));
svg.addEventListener("pointerleave", () => tell(chosen));
svg.addEventListener("click", (event) => { if (!moved) choose(read(event.target)); });
scroller.addEventListener("scroll", later);
scroller.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoomBy(Math.exp(-event.deltaY / 300), event.clientX - scroller.getBoundingClientRect().left);
}, { passive: false });
scroller.addEventListener("pointerdown", (event) => {
  moved = false;
  if (event.pointerType !== "mouse" || event.button) return;
  const from = event.clientX, at = scroller.scrollLeft;
  const move = (now) => {
    if (Math.abs(now.clientX - from) > 4) { moved = true; scroller.classList.add("dragged"); }
    if (moved) scroller.scrollLeft = at - (now.clientX - from);
  };
  const up = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", up); scroller.classList.remove("dragged"); };
  addEventListener("pointermove", move); addEventListener("pointerup", up);
});
let apart = 0;
const distance = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
scroller.addEventListener("touchstart", (event) => { if (event.touches.length === 2) apart = distance(event.touches); }, { passive: true });
scroller.addEventListener("touchmove", (event) => {
  if (event.touches.length !== 2) return;
  event.preventDefault();
  const now = distance(event.touches), middle = (event.touches[0].clientX + event.touches[1].clientX) / 2;
  zoomBy(now / apart, middle - scroller.getBoundingClientRect().left);
  apart = now;
}, { passive: false });
slider.min = model.first;
slider.max = model.end - 1;
slider.addEventListener("input", () => { run(false); go(+slider.value); });
const clock = document.getElementById("clock"), rate = document.getElementById("rate");
function tellRate() {
  const samples = 1e6 * clock.value / rate.dataset.cycles;
  rate.textContent = samples > 0 ? Number(samples.toPrecision(3)).toLocaleString("en") : "no";
}
clock.addEventListener("input", tellRate);
const acts = {
  back: () => { run(false); go(current - 1); }, on: () => { run(false); go(current + 1); }, play: () => run(!timer),
  in: () => zoomBy(1.6), out: () => zoomBy(1 / 1.6), fit: () => show(model.first, model.end),
  sample: () => show(0, model.cycles), next: () => idle(true), previous: () => idle(false),
};
for (const name in acts) document.getElementById(name).addEventListener("click", acts[name]);
const keys = { ",": "back", ".": "on", " ": "play", "+": "in", "=": "in", "-": "out", 0: "fit", 1: "sample", n: "next", p: "previous" };
scroller.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in keys) { acts[keys[event.key]](); event.preventDefault(); }
  if (event.key === "Escape") choose(null);
});
document.getElementById("strands").addEventListener("toggle", (event) => {
  const place = event.target.querySelector(".wide");
  if (place.childElementCount) return;
  const table = html("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const text of ["unit", "start", "end", "loops", "what", "line"]) head.append(html("th", text));
  for (const row of model.rows) for (const bar of row.bars) {
    const line = body.insertRow();
    const cells = [row.name, bar[START], bar[END], bar[LOOPS] < 0 ? "" : model.names[bar[LOOPS]], model.names[bar[NAME]], bar[SOURCE] < 0 ? "" : model.sources[bar[SOURCE]][1]];
    for (const text of cells) line.append(html("td", text));
  }
  place.append(table);
});
let wide = 0;
new ResizeObserver(() => {
  if (scroller.clientWidth === wide) return;
  const before = wide;
  wide = scroller.clientWidth;
  if (before) zoom(scale, left(), 0); else if (wide < 600 && model.end - model.first > 60) show(Math.max(model.first, -4), model.cycles); else acts.fit();
  draw();
}).observe(scroller);
tellRate();
go(current);
tell(null);
