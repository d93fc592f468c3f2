// The replay itself: which episode, which turn, and the keys that change it.

const longest = () => (current() ? Math.max(...current().plays.map((play) => play.turns)) : 0);
const current = () => view.rows[view.at];

function drawScene(env, play, taken, states) {
  const family = familyOf(env);
  if (family === "code") return drawCode(states.at(-1));
  if (family === "math") return drawMath(play, taken);
  return drawBoard(env, states.at(-1), states.length > 1 ? states.at(-2) : null, states);
}

function drawVerdict(outcome, play, ending, taken) {
  if (taken < play.turns.length) return make("span", "verdict quiet", paired ? `turn ${taken} of ${play.turns.length}` : "under way");
  const words = { solved: "solved", failed: `not solved (${ending})`, owed: `owed: ${play.error}` };
  return make("span", `verdict ${outcome}`, words[outcome]);
}

function drawPlay(play, run) {
  const row = current();
  const entry = data.entries[row.entry];
  const taken = Math.min(view.turn, play.turns.length);
  const states = [play.start, ...play.turns.slice(0, taken).map((turn) => turn.state)];
  const seat = ([agent]) => entry.roles.indexOf(agent.slice(0, agent.lastIndexOf("_")));
  const returns = Object.entries(play.returns).sort((one, other) => seat(one) - seat(other));
  const head = make("header", "play-head", paired ? make("h3", "", data.runs[run]) : null);
  head.append(drawVerdict(outcomeOf(row.plays[run]), play, row.plays[run].ending, taken));
  if (returns.length) head.append(make("span", "returns quiet", `return ${returns.map(([agent, value]) => `${agent} ${signed(value)}`).join(", ")}`));
  const remember = (open) => { view.openSaw = open; };
  const section = make(
    "section",
    `run run-${run}`,
    head,
    make("div", "board-box", drawScene(entry.env, play, taken, states)),
    drawLanes(play, entry.roles, taken, setTurn),
    drawCards(play, entry.roles, taken, view.openSaw, remember),
  );
  section.dataset.family = familyOf(entry.env);
  return section;
}

function mark() {
  view.buttons.forEach((button, at) => {
    if (at === view.at) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
}

function redraw() {
  const row = current();
  byId("empty").hidden = Boolean(row);
  document.body.classList.toggle("nothing", !row);
  if (!row) {
    byId("stage").replaceChildren();
    return;
  }
  const entry = data.entries[row.entry];
  const sample = entry.samples > 1 ? `, sample ${row.sample + 1}` : "";
  byId("heading").textContent = `${data.entries.length > 1 ? `${entry.name}, instance` : "Instance"} ${row.index}${sample}`;
  byId("scrub").max = longest();
  byId("scrub").value = view.turn;
  byId("turn").textContent = view.turn === 0 ? "start" : `turn ${view.turn} of ${longest()}`;
  byId("previous").disabled = view.turn === 0;
  byId("next").disabled = view.turn === longest();
  byId("stage").replaceChildren(...playsOf(row.number).map(drawPlay));
  centreLanes();
  history.replaceState(null, "", `#episode=${entry.name}/${row.index}/${row.sample}&turn=${view.turn}`);
}

function setTurn(turn) {
  view.turn = Math.max(0, Math.min(longest(), turn));
  if (!current() || playsOf(current().number)) redraw();
}

async function setEpisode(at, turn = 0) {
  view.at = Math.max(0, Math.min(view.rows.length - 1, at));
  view.turn = turn;
  mark();
  view.buttons[view.at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const row = current();
  // Only a group that is not there yet is waited for, so that a key press shows at once whatever it can.
  if (row && !playsOf(row.number)) await unpack(row.number);
  if (row === current()) setTurn(view.turn);
}

function setList() {
  view.rows = shownRows();
  drawFilters();
  drawEpisodes();
  return setEpisode(0);
}

function setFilter(number) {
  view.filter = number;
  return setList();
}

function setEntry(number) {
  view.entry = number;
  byId("entry").value = String(number);
  return setList();
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

function nextFilter() {
  const shown = [...byId("filters").children].map((button, number) => (button.hidden ? -1 : number)).filter((number) => number >= 0);
  setFilter(shown[(shown.indexOf(view.filter) + 1) % shown.length]);
}

const KEYS = {
  ArrowLeft: () => setTurn(view.turn - 1),
  ArrowRight: () => setTurn(view.turn + 1),
  ArrowUp: () => setEpisode(view.at - 1),
  ArrowDown: () => setEpisode(view.at + 1),
  Home: () => setTurn(0),
  End: () => setTurn(longest()),
  " ": () => setPlaying(!view.timer),
  f: nextFilter,
  e: () => data.entries.length > 1 && setEntry(view.entry + 1 < data.entries.length ? view.entry + 1 : -1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  // Space must still press the button or open the text that has the focus, and a list of choices keeps its keys.
  if (event.key === " " && event.target.closest("button, summary")) return;
  if (event.target.closest("select")) return;
  event.preventDefault();
  KEYS[event.key]();
});
byId("previous").addEventListener("click", () => setTurn(view.turn - 1));
byId("next").addEventListener("click", () => setTurn(view.turn + 1));
byId("play").addEventListener("click", () => setPlaying(!view.timer));
byId("scrub").addEventListener("input", (event) => setTurn(Number(event.target.value)));

async function openAtHash() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const idOf = (row) => `${data.entries[row.entry].name}/${row.index}/${row.sample}`;
  const at = view.rows.findIndex((row) => idOf(row) === wanted.get("episode"));
  await setEpisode(Math.max(0, at), Number(wanted.get("turn")) || 0);
}

async function begin() {
  drawScores();
  drawAbout();
  drawEntries();
  view.rows = shownRows();
  drawFilters();
  drawEpisodes();
  await openAtHash();
}

const ready = begin();
