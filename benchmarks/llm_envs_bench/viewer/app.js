const data = JSON.parse(document.getElementById("data").textContent);
const paired = data.runs.length === 2;
const view = { filter: 0, at: 0, turn: 0, timer: 0, openSaw: false };
const byId = (id) => document.getElementById(id);

const won = (episode, run) => episode.plays[run].success;
const FILTERS = paired
  ? [
      ["All", () => true],
      ["Gained", (e) => !won(e, 0) && won(e, 1)],
      ["Lost", (e) => won(e, 0) && !won(e, 1)],
      ["Both solved", (e) => won(e, 0) && won(e, 1)],
      ["Both failed", (e) => !won(e, 0) && !won(e, 1)],
    ]
  : [
      ["All", () => true],
      ["Solved", (e) => won(e, 0)],
      ["Failed", (e) => !won(e, 0)],
    ];

const shown = () => data.episodes.filter(FILTERS[view.filter][1]);
const current = () => shown()[view.at];
const longest = () => (current() ? Math.max(...current().plays.map((play) => play.turns.length)) : 0);

function drawScores() {
  const box = byId("scores");
  data.runs.forEach((run, number) => {
    const [value, low, high] = run.success;
    const x = (share) => 100 * share;
    box.append(
      make(
        "div",
        `score run-${number}`,
        make("span", "score-label", run.label),
        make("strong", "score-value", percent(value)),
        draw(
          "svg",
          { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "whisker", role: "img", "aria-label": `95% interval ${percent(low)} to ${percent(high)}` },
          draw("rect", { x: 0, y: 3, width: 100, height: 2, class: "axis" }),
          draw("rect", { x: x(low), y: 2, width: Math.max(0.6, x(high) - x(low)), height: 4, class: "interval" }),
          draw("rect", { x: Math.min(99, Math.max(0, x(value) - 0.5)), y: 0, width: 1, height: 8, class: "value" }),
        ),
        make("span", "score-range quiet", `95% interval ${percent(low)} to ${percent(high)}`),
      ),
    );
  });
  if (!data.difference) return;
  const [value, low, high] = data.difference.map((share) => signed(100 * share, 1));
  box.append(
    make(
      "div",
      "score difference",
      make("span", "score-label", "difference"),
      make("strong", "score-value", value),
      make("span", "score-range quiet", `points on the same instances, 95% interval ${low} to ${high}`),
    ),
  );
}

function drawAbout() {
  const parts = [data.env, `${data.split} split`, ...data.options];
  const count = data.episodes.length;
  parts.push(count === data.instances ? `${count} episodes` : `${count} of ${data.instances} episodes`);
  byId("about").textContent = parts.join(" · ");
}

function drawFilters() {
  byId("filters").replaceChildren(
    ...FILTERS.map(([name, test], number) => {
      const count = data.episodes.filter(test).length;
      const button = make("button", "", name, make("span", "count", String(count)));
      button.type = "button";
      button.setAttribute("aria-pressed", String(number === view.filter));
      button.addEventListener("click", () => setFilter(number));
      return button;
    }),
  );
}

function outcome(play) {
  const mark = make("span", play.success ? "outcome solved" : "outcome failed", play.success ? "✓" : "✕");
  mark.setAttribute("aria-label", play.success ? "solved" : "failed");
  mark.setAttribute("role", "img");
  return mark;
}

function drawEpisodes() {
  byId("episodes").replaceChildren(
    ...shown().map((episode, at) => {
      const turns = episode.plays.map((play) => play.turns.length).join(" → ");
      const button = make("button", "", make("span", "number", `#${episode.index}`));
      button.append(make("span", "outcomes", ...episode.plays.map(outcome)), make("span", "quiet turns", `${turns} turns`));
      button.type = "button";
      button.addEventListener("click", () => setEpisode(at));
      return make("li", "", button);
    }),
  );
}

function drawPlay(play, run) {
  const taken = Math.min(view.turn, play.turns.length);
  const states = [play.start, ...play.turns.slice(0, taken).map((turn) => turn.state)];
  const over = taken === play.turns.length;
  const verdict = !over ? "" : play.success ? "solved" : `not solved (${play.ending})`;
  const agents = [...new Set(play.turns.map((turn) => turn.agent))];
  const returns = agents.map((agent) => `${agent} ${signed(play.returns[agent])}`);
  const head = make("header", "play-head", paired ? make("h3", "", data.runs[run].label) : null);
  head.append(make("span", over ? `verdict ${play.success ? "solved" : "failed"}` : "verdict quiet", over ? verdict : `turn ${taken} of ${play.turns.length}`));
  head.append(make("span", "returns quiet", `return ${returns.join(", ")}`));
  const jump = (turn) => setTurn(turn);
  const roles = data.runs[run].roles;
  const remember = (open) => { view.openSaw = open; };
  return make(
    "section",
    `run run-${run}`,
    head,
    make("div", "board-box", drawBoard(states.at(-1), states.length > 1 ? states.at(-2) : null, states)),
    drawLanes(play, roles, taken, jump),
    drawCards(play, roles, taken, view.openSaw, remember),
  );
}

function redraw() {
  const episode = current();
  byId("empty").hidden = Boolean(episode);
  document.body.classList.toggle("nothing", !episode);
  [...byId("episodes").querySelectorAll("button")].forEach((button, at) => {
    if (at === view.at) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
  if (!episode) {
    byId("stage").replaceChildren();
    return;
  }
  byId("heading").textContent = `Instance ${episode.index}`;
  byId("scrub").max = longest();
  byId("scrub").value = view.turn;
  byId("turn").textContent = view.turn === 0 ? "start" : `turn ${view.turn} of ${longest()}`;
  byId("previous").disabled = view.turn === 0;
  byId("next").disabled = view.turn === longest();
  byId("stage").replaceChildren(...episode.plays.map(drawPlay));
  centreLanes();
  history.replaceState(null, "", `#instance=${episode.index}&turn=${view.turn}`);
}

function setTurn(turn) {
  view.turn = Math.max(0, Math.min(longest(), turn));
  redraw();
}

function setEpisode(at) {
  const count = shown().length;
  view.at = Math.max(0, Math.min(count - 1, at));
  view.turn = 0;
  redraw();
  byId("episodes").children[view.at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function setFilter(number) {
  view.filter = number;
  drawFilters();
  drawEpisodes();
  setEpisode(0);
}

function setPlaying(playing) {
  clearInterval(view.timer);
  view.timer = 0;
  if (playing) {
    if (view.turn >= longest()) setTurn(0);
    view.timer = setInterval(() => {
      setTurn(view.turn + 1);
      if (view.turn >= longest()) setPlaying(false);
    }, 700);
  }
  byId("play").textContent = playing ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(playing));
}

const KEYS = {
  ArrowLeft: () => setTurn(view.turn - 1),
  ArrowRight: () => setTurn(view.turn + 1),
  ArrowUp: () => setEpisode(view.at - 1),
  ArrowDown: () => setEpisode(view.at + 1),
  Home: () => setTurn(0),
  End: () => setTurn(longest()),
  " ": () => setPlaying(!view.timer),
  f: () => setFilter((view.filter + 1) % FILTERS.length),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  // Space must still press the button or open the text that has the focus.
  if (event.key === " " && event.target.closest("button, summary")) return;
  event.preventDefault();
  KEYS[event.key]();
});
byId("previous").addEventListener("click", () => setTurn(view.turn - 1));
byId("next").addEventListener("click", () => setTurn(view.turn + 1));
byId("play").addEventListener("click", () => setPlaying(!view.timer));
byId("scrub").addEventListener("input", (event) => setTurn(Number(event.target.value)));

function openAtHash() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const at = data.episodes.findIndex((episode) => String(episode.index) === wanted.get("instance"));
  setEpisode(Math.max(0, at));
  setTurn(Number(wanted.get("turn")) || 0);
}

drawScores();
drawAbout();
drawFilters();
drawEpisodes();
openAtHash();
