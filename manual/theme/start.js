"use strict";
// Play, pause and step of the drawing: its animations are those of the file array.svg, and this script only holds them.
const drawing = document.querySelector("svg.array"), shown = document.getElementById("cycle"), play = document.getElementById("play");
const first = +drawing.dataset.first, length = drawing.dataset.end - first, milliseconds = +drawing.dataset.milliseconds;
const moving = () => drawing.getAnimations({ subtree: true });
let playing = moving().length > 0;
function hold(on) {
  playing = on;
  for (const each of moving()) if (on) each.play(); else each.pause();
  play.textContent = on ? "Pause" : "Play";
}
function now() { return Math.floor(((moving()[0]?.currentTime ?? 0) / milliseconds) % (moving()[0]?.effect.getTiming().duration / milliseconds || 1)); }
function step(by) {
  drawing.classList.add("moving");
  hold(false);
  const cycle = Math.max(0, Math.min(length - 1, Math.min(now(), length) + by));
  for (const each of moving()) each.currentTime = (cycle + 0.5) * milliseconds;
}
play.addEventListener("click", () => { drawing.classList.add("moving"); hold(!playing); });
document.getElementById("back").addEventListener("click", () => step(-1));
document.getElementById("on").addEventListener("click", () => step(1));
play.textContent = playing ? "Pause" : "Play";
setInterval(() => { shown.textContent = "cycle " + Math.min(now(), length - 1) + " of " + length; }, 50);
document.getElementById("scheme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.scheme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.scheme = dark ? "light" : "dark";
  const media = "(prefers-color-scheme: " + (dark ? "light)" : "dark)");
  const color = { media, scheme: dark ? "default" : "slate", primary: "indigo", accent: "indigo" };
  try { localStorage.setItem(kept, JSON.stringify({ index: dark ? 1 : 2, color })); } catch { /* as above */ }
});
