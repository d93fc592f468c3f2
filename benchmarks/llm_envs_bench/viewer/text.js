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
