"use strict";
// The server runs the programs. This script sends them, and shows what the server has found so far.
const model = JSON.parse(document.getElementById("model").textContent);
const get = (id) => document.getElementById(id);
const text = get("text"), colours = get("colours"), numbers = get("numbers"), marks = get("marks"), LINE = 20, TOP = 8;
const COMMENTS = { t: "\\/\\/[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)", tc: "#[^\\n]*" };
const WORDS = "|[A-Za-z_]\\w*|\\d+(?:\\.\\d*)?(?:[eE][-+]?\\d+)?|\\.\\d+";
let chosen = model.offers[0], running = null, shown = {};

function made(name, content, kind) {
  const element = document.createElement(name);
  if (content !== undefined) element.textContent = content;
  if (kind) element.className = kind;
  return element;
}

// ---- the editor: coloured text lies below the letters of the text area, which cannot be seen

function kindOf(word) {
  const { keywords, functions } = model.words[chosen.language];
  if (/^[/#]/.test(word)) return "comment";
  if (/^[\d.]/.test(word)) return "number";
  return keywords.includes(word) ? "keyword" : functions.includes(word) ? "function" : "";
}
function paint() {
  const parts = [];
  let at = 0;
  for (const found of text.value.matchAll(new RegExp(COMMENTS[chosen.language] + WORDS, "g"))) {
    const kind = kindOf(found[0]);
    if (!kind) continue;
    parts.push(text.value.slice(at, found.index), made("span", found[0], kind));
    at = found.index + found[0].length;
  }
  colours.replaceChildren(...parts, text.value.slice(at));
  numbers.textContent = text.value.split("\n").map((_, line) => line + 1).join("\n");
  scrolled();
}
function scrolled() {
  colours.style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
  numbers.style.transform = marks.style.transform = `translateY(${-text.scrollTop}px)`;
}
function mark(places) {
  marks.replaceChildren(...[...new Set(places.map(([line]) => line))].map((line) => {
    const bar = made("i");
    bar.style.top = TOP + LINE * (line - 1) + "px";
    return bar;
  }));
}
function go(line, column) {
  const lines = text.value.split("\n").slice(0, line - 1), at = lines.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  text.focus();
  text.setSelectionRange(at, at);
  text.scrollTop = Math.max(0, LINE * (line - 6));
}
function choose(name) {
  chosen = model.offers.find((offer) => offer.name === name);
  text.value = chosen.text;
  for (const key of ["format", "epochs", "data", "engine", "sizes", "learns", "rate"]) get(key).value = chosen[key];
  get("kernel").hidden = chosen.language !== "tc";
  text.scrollTop = text.scrollLeft = 0;
  mark([]);
  paint();
}
text.addEventListener("input", () => { mark([]); paint(); });
text.addEventListener("scroll", scrolled);
get("example").addEventListener("change", (event) => {
  if (text.value !== chosen.text && !confirm("Your changes of the program will be lost.")) event.target.value = chosen.name;
  else choose(event.target.value);
});

// ---- tabs

function select(name, focus) {
  for (const tab of get("tabs").children) {
    const on = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    get(tab.dataset.tab).hidden = !on;
    if (on) tab.classList.remove("new");
    if (on && focus) tab.focus();
  }
}
get("tabs").addEventListener("click", (event) => { if (event.target.dataset.tab) select(event.target.dataset.tab); });
get("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], all = [...get("tabs").children];
  if (step) select(all[(all.indexOf(event.target) + step + all.length) % all.length].dataset.tab, true);
});
function fill(name, ...content) {
  get(name).replaceChildren(...content);
  if (get(name).hidden) get("tab-" + name).classList.add("new");
}

// ---- results

const place = (run, name) => `runs/${run}/${name}`;
function links(run, name, file) {
  const line = made("p", undefined, "links"), open = made("a", "open alone"), save = made("a", "save " + file);
  open.href = save.href = place(run, name);
  open.target = "_blank";
  open.rel = "noreferrer";
  save.download = file;
  line.append(open, " · ", save);
  return line;
}
// The server keeps the last run alone.
const REPLACED = "Another page has started a run, which has taken the place of this one.";
function checked(answer) {
  if (!answer.ok) throw new Error(answer.status === 404 ? REPLACED : `${answer.status} ${answer.statusText}`);
  return answer;
}
const content = async (run, name) => checked(await fetch(place(run, name))).text();
function plain(words) {
  // Who has no mouse scrolls the text with the keys.
  const element = made("pre", words, "plain");
  element.tabIndex = 0;
  return element;
}
function fragment(html) {
  // The server has escaped every name of the program, and no script of a fragment may run.
  const box = made("div");
  box.innerHTML = html;
  return box;
}
const show = {
  "graph.svg": async (run) => {
    const image = made("img");
    image.src = place(run, "graph.svg");
    image.alt = "The dataflow graph: statements, and what each of them reads";
    fill("graph", links(run, "graph.svg", chosen.name + ".graph.svg"), image);
  },
  "schedule.html": async (run) => {
    const frame = made("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = "The schedule of one sample";
    frame.src = place(run, "schedule.html");
    fill("schedule", links(run, "schedule.html", chosen.name + ".schedule.html"), frame);
  },
  "report.txt": async (run) => fill("cycles", plain(await content(run, "report.txt"))),
  "verilog.v": async (run) => fill("verilog", links(run, "verilog.v", chosen.name + ".v"), plain(await content(run, "verilog.v"))),
  "curve.svg": async (run) => { if (!shown["training.html"]) fill("training", fragment(await content(run, "curve.svg"))); },
  "training.html": async (run) => fill("training", fragment(await content(run, "training.html"))),
  "training.txt": async (run) => {
    const more = made("details");
    more.append(made("summary", "The report of tabla train"), plain(await content(run, "training.txt")));
    get("training").append(more);
  },
};
async function take(state) {
  if (state.state === "replaced") throw new Error(REPLACED);
  const stages = { running: state.step + " …", done: "Done.", stopped: "Stopped.", fault: "There is an error." };
  get("status").textContent = stages[state.state];
  const first = state.fault && get("faults").hidden;
  get("faults").hidden = !state.fault;
  if (state.fault) {
    get("fault").textContent = state.fault.text;
    mark(state.fault.places);
    get("places").replaceChildren(...state.fault.places.slice(0, 8).map(([line, column]) => {
      const button = made("button", "go to line " + line);
      button.type = "button";
      button.onclick = () => go(line, column);
      return button;
    }));
  }
  if (first) get("faults").scrollIntoView({ block: "nearest" });
  const lines = [...state.warnings.map((each) => made("li", each, "warning")), ...state.notes.map((each) => made("li", each))];
  get("remarks").hidden = !lines.length;
  get("remarks").replaceChildren(...lines);
  for (const name in state.results) {
    if (shown[name] === state.results[name]) continue;
    shown[name] = state.results[name];
    await show[name](state.run);
  }
  if (state.state !== "running") for (const empty of document.querySelectorAll(".empty")) empty.textContent = "This run has nothing to show here.";
}

// ---- runs

function request() {
  const value = { name: chosen.name, language: chosen.language, text: text.value, format: get("format").value.trim() };
  for (const name of ["data", "engine", "sizes", "learns", "rate"]) value[name] = get(name).value;
  for (const name of ["pes", "minibatch", "epochs"]) value[name] = get(name).valueAsNumber;
  return value;
}
async function post(path, value) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
  return checked(answer).json();
}
function busy(on) {
  get("stop").disabled = !on;
  get("run").textContent = on ? "Run anew" : "Run";
}
async function follow(run) {
  let state = { state: "running", version: -1 };
  while (state.state === "running" && running === run) {
    const answer = await fetch(place(run, "state?after=" + state.version));
    state = await checked(answer).json();
    if (running === run) await take(state);
  }
}
async function start() {
  shown = {};
  mark([]);
  get("faults").hidden = get("remarks").hidden = true;
  for (const tab of get("tabs").children) {
    tab.classList.remove("new");
    get(tab.dataset.tab).replaceChildren(made("p", "Not there yet.", "empty"));
  }
  get("status").textContent = "starting …";
  busy(true);
  let run = running = null;  // what is still said of the run before is not heard any more
  try {
    run = running = (await post("run", request())).run;
    await follow(run);
  } catch (fault) {
    const gone = `tabla play does not answer (${fault.message}). Does it still run?`;
    if (running === run) get("status").textContent = fault.message === REPLACED ? REPLACED : gone;
  }
  if (running === run) busy(false);
}
get("form").addEventListener("submit", (event) => { event.preventDefault(); start(); });
get("stop").addEventListener("click", () => { if (running) post(place(running, "stop"), {}).catch(() => busy(false)); });
addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) get("form").requestSubmit(); });
choose(model.offers[0].name);
