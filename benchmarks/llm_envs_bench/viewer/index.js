// What stands above and beside the replay: scores, entries, outcomes, the list of episodes.

const OUTCOMES = { solved: "✓", failed: "✕", owed: "!" };
const outcomeOf = (play) => (play.success === null ? "owed" : play.success ? "solved" : "failed");

const rows = data.episodes.map(([entry, index, sample, plays], number) => ({ number, entry, index, sample, plays }));
const won = (row, run) => row.plays[run].success;
const FILTERS = paired
  ? [
      ["All", () => true],
      ["Gained", (row) => !won(row, 0) && won(row, 1)],
      ["Lost", (row) => won(row, 0) && !won(row, 1)],
      ["Both solved", (row) => won(row, 0) && won(row, 1)],
      ["Both failed", (row) => !won(row, 0) && !won(row, 1)],
    ]
  : [
      ["All", () => true],
      ["Solved", (row) => won(row, 0) === true],
      ["Failed", (row) => won(row, 0) === false],
      ["Invalid", (row) => row.plays[0].invalid > 0],
      ["Out of turns", (row) => row.plays[0].ending === "truncated"],
      ["Owed", (row) => won(row, 0) === null],
    ];
const ofEntry = (row) => view.entry < 0 || row.entry === view.entry;
const shownRows = () => rows.filter((row) => ofEntry(row) && FILTERS[view.filter][1](row));

const nameOf = (row) => {
  const entry = data.entries[row.entry];
  return `#${row.index}${entry.samples > 1 ? `.${row.sample}` : ""}`;
};

function interval([value, low, high]) {
  const known = low !== null; // not where one instance was played several times
  const words = known ? `95% interval ${percent(low)} to ${percent(high)}` : "no interval from one instance";
  const svg = draw("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "whisker", role: "img", "aria-label": words });
  svg.append(
    draw("rect", { x: 0, y: 3, width: 100, height: 2, class: "axis" }),
    ...(known ? [draw("rect", { x: 100 * low, y: 2, width: Math.max(0.6, 100 * (high - low)), height: 4, class: "interval" })] : []),
    draw("rect", { x: Math.min(99, Math.max(0, 100 * value - 0.5)), y: 0, width: 1, height: 8, class: "value" }),
  );
  return [svg, make("span", "score-range quiet", words)];
}

function drawScores() {
  const box = byId("scores");
  data.runs.forEach((label, number) => {
    const found = data.score.success[number];
    const name = make("span", "score-label", label);
    box.append(make("div", `score run-${number}`, name, make("strong", "score-value", percent(found[0])), ...interval(found)));
  });
  if (!data.score.difference) return;
  const [value, low, high] = data.score.difference.map((share) => signed(100 * share, 1));
  const words = make("span", "score-range quiet", `points on the same instances, 95% interval ${low} to ${high}`);
  box.append(make("div", "score difference", make("span", "score-label", "difference"), make("strong", "score-value", value), words));
}

function drawAbout() {
  const only = data.entries.length === 1 ? data.entries[0] : null;
  const parts = only ? [only.env, `${only.split} split`, ...only.options] : [`${data.entries.length} entries`];
  const count = rows.length;
  parts.push(count === data.total ? `${count} episodes` : `${count} of ${data.total} episodes`);
  byId("about").textContent = parts.join(" · ");
}

function drawEntries() {
  const several = data.entries.length > 1;
  byId("entry-box").hidden = byId("entry-key").hidden = !several;
  if (!several) return;
  const option = (text, value) => {
    const element = make("option", "", text);
    element.value = value;
    return element;
  };
  byId("entry").append(option("All entries", -1), ...data.entries.map((entry, number) => option(entry.name, number)));
  byId("entry").addEventListener("change", (event) => setEntry(Number(event.target.value)));
}

function drawFilters() {
  const buttons = FILTERS.map(([name, test], number) => {
    const count = rows.filter((row) => ofEntry(row) && test(row)).length;
    const button = make("button", "", name, make("span", "count", String(count)));
    button.type = "button";
    button.setAttribute("aria-pressed", String(number === view.filter));
    button.addEventListener("click", () => setFilter(number));
    // Kinds that never occurred would only take room; outcomes stay, so that a zero can be seen.
    if (!paired && number > 2 && count === 0 && number !== view.filter) button.hidden = true;
    return button;
  });
  byId("filters").replaceChildren(...buttons);
}

function outcomeMark(play) {
  const outcome = outcomeOf(play);
  const mark = make("span", `outcome ${outcome}`, OUTCOMES[outcome]);
  mark.setAttribute("aria-label", outcome);
  mark.setAttribute("role", "img");
  return mark;
}

function drawEpisodes() {
  let entry = -1;
  const items = [];
  view.rows.forEach((row, at) => {
    if (data.entries.length > 1 && row.entry !== entry) {
      entry = row.entry;
      items.push(make("li", "entry-name quiet", data.entries[entry].name));
    }
    const turns = row.plays.map((play) => play.turns).join(" → ");
    const button = make("button", "", make("span", "number", nameOf(row)));
    button.append(make("span", "outcomes", ...row.plays.map(outcomeMark)), make("span", "quiet turns", `${turns} turns`));
    button.type = "button";
    button.addEventListener("click", () => setEpisode(at));
    items.push(make("li", "", button));
  });
  byId("episodes").replaceChildren(...items);
  view.buttons = [...byId("episodes").querySelectorAll("button")];
}
