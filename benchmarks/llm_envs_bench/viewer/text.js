const data = JSON.parse(document.getElementById("data").textContent);
const paired = data.runs.length === 2;
// What is looked at: an outcome and an entry (-1: all) of the list, an episode of the list, a turn of the episode.
const view = { filter: 0, entry: -1, rows: [], buttons: [], at: 0, turn: 0, timer: 0, openSaw: false };
const byId = (id) => document.getElementById(id);

// Small helpers. Everything a model wrote goes into the page as text, never as markup.

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const percent = (share, digits = 1) => (Number.isFinite(share) ? (100 * share).toFixed(digits) + "%" : "–");

// A true minus sign lines up with the plus.
function signed(value, digits = 2) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value).toFixed(digits);
  if (Number(size) === 0) return size;
  return (value < 0 ? "−" : "+") + size;
}

function plain(value) {
  if (typeof value === "number") return (Number.isInteger(value) ? String(value) : value.toFixed(2)).replace("-", "−");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const words = (name) => name.replaceAll("_", " ");
