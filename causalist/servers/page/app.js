"use strict";
// The page: a question out, documents in. Whatever comes from the repository is set as text, never as markup.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const OPTIONS = { level: "symbol", top_k: "20", order: "causal", max_tokens: "4000" };
const MOST_LINES = 400;
const MOST_ROWS = 15; // of one list of a change
const MOST_USERS = 200; // of a definition whose tests are looked for unasked: of more, that may take a minute
// Names of editors, and the addresses that they open. {path} is absolute and begins with a slash.
const EDITORS = {
  vscode: ["VS Code", "vscode://file{path}:{line}"],
  cursor: ["Cursor", "cursor://file{path}:{line}"],
  zed: ["Zed", "zed://file{path}:{line}"],
  idea: ["JetBrains", "idea://open?file={path}&line={line}"],
};
let state = { answer: null, nodes: {}, chosen: null, asked: 0, opened: 0, pictured: 0, root: "", served: [], repository: null };

function make(tag, attributes = {}, ...children) {
  const element = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function say(text) {
  const said = $("said");
  said.textContent = text;
  said.classList.add("on");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => said.classList.remove("on"), 1800);
}

// -- talking to the server

// A request is about the repository that is shown when it is made.
async function call(path, body) {
  const about = state.repository === null ? {} : { repository: state.repository };
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...body, ...about }),
  };
  let response;
  try {
    response = await fetch(body === undefined ? `${path}?${new URLSearchParams(about)}` : path, { ...options, credentials: "same-origin" });
  } catch {
    throw new Error("The server does not answer any more. Start it again and open the address that it prints.");
  }
  const document_ = await response.json().catch(() => ({}));
  if (response.ok) return document_;
  const error = document_.error || {};
  throw new Error(response.status === 401
    ? "This address has no valid token. Open the one that the server printed when it started."
    : error.message || `The server answered ${response.status}.`);
}

// Until there is an index, the answer is how far it is.
async function patiently(path, body, isWanted) {
  for (;;) {
    const result = await call(path, body);
    if (!isWanted()) return null;
    if (!result.indexing) return result;
    showProgress(`Indexing: ${result.indexing.stage}`, result.indexing.percent);
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (!isWanted()) return null;
  }
}

function showProgress(text, percent) {
  $("progress").hidden = text === null;
  $("progress").classList.toggle("busy", percent === null);
  $("stage").textContent = text || "";
  $("meter").style.width = `${percent || 0}%`;
}

// -- asking

function optionsOfForm() {
  const options = {};
  for (const name of Object.keys(OPTIONS)) if ($(name).value !== OPTIONS[name]) options[name] = $(name).value;
  if (!$("graph").checked) options.graph = "false";
  return options;
}

function setForm(query) {
  $("question").value = query.get("q") || "";
  for (const [name, usual] of Object.entries(OPTIONS)) {
    const values = [...$(name).options].map((option) => option.value);
    $(name).value = values.includes(query.get(name)) ? query.get(name) : usual;
  }
  $("graph").checked = query.get("graph") !== "false";
}

// The address of what is shown: one of several repositories, the question or the changes, the definition, and the picture on top.
function address(node, picture = null) {
  const query = new URLSearchParams(state.served.length > 1 ? { repository: state.repository } : {});
  for (const [name, value] of Object.entries(state.isReview ? { view: "changes" } : state.question ? { q: state.question, ...state.options } : {})) query.set(name, value);
  if (node) query.set("node", node);
  if (picture) {
    query.set("picture", picture.view);
    if (picture.nodes.to) query.set("to", picture.nodes.to);
  }
  return query.size ? `/?${query}` : "/";
}

function pictureOf(query) {
  const view = query.get("picture"), node = query.get("node"), to = query.get("to");
  if (view === "path" && node && to) return { view, nodes: { node, to } };
  if (view === "impact" && node) return { view, nodes: { node } };
  return view === "topo" || view === "review" ? { view, nodes: {} } : null;
}

async function ask(question, { node = null, push = true } = {}) {
  const asked = ++state.asked;
  const options = optionsOfForm();
  Object.assign(state, { question, options, isReview: false });
  if (push) history.pushState(null, "", address(node));
  document.title = `${question} – Causalist`;
  showProgress("Asking …", null);
  const body = { question };
  for (const [name, value] of Object.entries(options)) {
    body[name] = name === "graph" ? false : /^\d+$/.test(value) ? Number(value) : value;
  }
  try {
    const found = await patiently("/api/ask", body, () => asked === state.asked);
    if (found === null) return;
    showProgress(null);
    show(found, node);
  } catch (error) {
    if (asked !== state.asked) return;
    showProgress(null);
    blank("That did not work", error.message, true);
  }
}

function blank(title, text, isProblem = false) {
  $("main").className = "blank";
  $("welcome").className = isProblem ? "problem" : "";
  $("welcome").querySelector("h1").textContent = title;
  $("welcome").querySelector("p").textContent = text;
  $("overview").hidden = isProblem;
}

function show(found, node) {
  const answer = found.answer;
  Object.assign(state, { answer, nodes: found.nodes, chosen: null });
  state.best = Math.max(...answer.results.map((result) => result.score), 1e-9);
  state.ranks = Object.fromEntries(answer.results.map((result) => [result.node, result.rank]));
  if (!answer.results.length) {
    blank("Nothing found", "No word of the question stands in what was searched. Try a name, or another word that the code may use.", true);
    return;
  }
  $("main").className = "";
  $("changes").replaceChildren();
  showFacts(found);
  $("results").replaceChildren(...answer.results.map(hitOf));
  $("list").scrollTop = 0;
  draw();
  tab("list");
  choose(node || answer.results[0].node, { push: false, narrow: node !== null });
}

// A definition without a question.
function showAlone(node) {
  ++state.asked;
  Object.assign(state, { question: "", isReview: false, answer: NO_ANSWER, nodes: {}, ranks: {}, chosen: null });
  document.title = `${nameOf(node)} – Causalist`;
  $("main").className = "single";
  for (const id of ["facts", "results", "changes", "picture"]) $(id).replaceChildren();
  choose(node, { push: false, narrow: true });
}

// -- the change since the last commit

const NO_ANSWER = { results: [], edges: [], removed_edges: [], order: [], pack: null };
const KINDS = [["signature", "Changed in signature"], ["moved", "Moved or renamed"], ["body", "Changed in body"], ["added", "Added"], ["removed", "Removed"]];

async function showChanges({ node = null, push = true } = {}) {
  const asked = ++state.asked;
  Object.assign(state, { question: "", isReview: true });
  if (push) history.pushState(null, "", address(node));
  document.title = "Changes – Causalist";
  showProgress("Comparing …", null);
  try {
    const found = await patiently("/api/review", {}, () => asked === state.asked);
    if (found === null) return;
    showProgress(null);
    showReview(found, node);
  } catch (error) {
    if (asked !== state.asked) return;
    showProgress(null);
    blank("That did not work", error.message, true);
  }
}

function showReview({ review, stage }, node) {
  Object.assign(state, { answer: NO_ANSWER, nodes: {}, ranks: {}, chosen: null });
  if (!review.files.length) {
    blank("Nothing changed", "The files are those of the last commit.", true);
    return;
  }
  $("main").className = "changes";
  for (const id of ["results", "picture", "code"]) $(id).replaceChildren();
  const gone = new Set(review.definitions.filter((each) => each.change === "removed").map((each) => each.node));
  const to = (id, text) => (gone.has(id) ? make("span", {}, text || plain(id)) : link(id, text || plain(id)));
  const use = ({ edge }) => (edge ? `${edge.kind} ${nameOf(edge.target)}${edge.line ? `, line ${edge.line}` : ""}` : "changed itself");
  const reached = (each) => [make("span", { class: "share" }, each.probability.toFixed(2)), to(each.node), make("span", {}, use(each))];
  const named = { removed: "removed", added: "added", renamed: "renamed" };
  const sections = [
    ["Calls that no longer fit", review.broken_calls.map((each) => [to(each.node, `${each.path}:${each.line}`), make("span", {}, "calls"), to(each.target, nameOf(each.target)), make("span", {}, each.why)]), true],
    ["Lines that look like a secret", review.secrets.map((each) => [link(each.path, `${each.path}:${each.line}`)]), true],
    ["Layer rules broken", review.layers.map((each) => [link(each.source, `${each.path}:${each.line}`), make("span", {}, "uses"), to(each.target, nameOf(each.target)), make("span", {}, each.rule)]), true],
    ...KINDS.map(([kind, title]) => [title, review.definitions.filter((each) => each.change === kind).map((each) => [to(each.node), make("span", {}, detailOf(each))])]),
    ["Other files", review.files.filter((each) => each.note || !each.code || each.status === "renamed").map((each) => [make("span", {}, `${each.path}${each.before && each.before !== each.path ? `, was ${each.before}` : ""}`), make("span", {}, [named[each.status], each.note].filter(Boolean).join(", "))])],
    ["Usually changes too, and did not", review.missing.map((each) => [make("span", { class: "share" }, each.probability.toFixed(2)), link(each.file, each.file), make("span", {}, `${each.n_both} of ${each.n_commits} commits of ${each.changed}`)])],
    ["Users that may run what changed", review.affected.map(reached), false, review.n_affected],
    ["Tests to run", review.tests.map(reached), false, review.n_tests],
  ];
  const notes = [...review.notes];
  if (stage) notes.unshift(`Compared by an older index; still indexing: ${stage}`);
  const files = `${review.files.length} file${review.files.length === 1 ? "" : "s"}`;
  $("facts").replaceChildren(
    make("span", {}, `Since ${review.before.slice(0, 10)}: ${files}, ${review.definitions.length} definition${review.definitions.length === 1 ? "" : "s"}`),
    make("button", { type: "button", id: "draw-review", on: { click: () => drawn("review", {}) } }, "Picture"),
    ...notes.slice(0, 3).map((text) => make("span", { class: "note" }, text)));
  $("changes").replaceChildren(...sections.filter(([, rows]) => rows.length).flatMap(([title, rows, isAlarm, n = rows.length]) => [
    make("h2", { class: isAlarm ? "alarm" : false }, `${title} (${n})`),
    listOf(rows.map((row) => make("li", {}, ...row)), n)]));
  $("list").scrollTop = 0;
  tab("list");
  const first = node || (review.definitions.find((each) => each.change !== "removed") || {}).node;
  if (first) choose(first, { push: false, narrow: node !== null });
}

// A list of n rows of which some may not be there; the first are shown.
function listOf(rows, n) {
  const rest = n > rows.length ? [make("li", {}, make("span", {}, `and ${n - rows.length} more`))] : [];
  const list = make("ul", {}, ...rows.slice(0, MOST_ROWS), ...(rows.length > MOST_ROWS ? [] : rest));
  if (rows.length > MOST_ROWS) {
    const more = make("button", { type: "button", class: "more", on: { click: () => { more.parentNode.remove(); list.append(...rows.slice(MOST_ROWS), ...rest); } } }, `${n - MOST_ROWS} more`);
    list.append(make("li", {}, more));
  }
  return list;
}

function detailOf(each) {
  if (each.kind === "file") return "imports or code outside of definitions";
  if (each.change === "signature") return `${each.signature_before} → ${each.signature}${each.body_changed ? "; its body, too" : ""}`;
  if (each.change === "moved") return `${each.kind}, was ${each.before}${each.body_changed ? ", edited" : ""}`;
  return each.kind;
}

function showFacts({ answer, stage }) {
  const facts = [`${answer.results.length} of ${answer.repository.nodes} nodes`];
  const parts = [make("span", {}, facts[0])];
  if (answer.confidence !== null) {
    const bar = make("b");
    bar.style.width = `${Math.round(answer.confidence * 100)}%`;
    parts.push(make("span", { class: "confident", title: "How likely one of the first five files is right" },
      make("i", {}, bar), `${Math.round(answer.confidence * 100)} % sure`));
  }
  parts.push(make("button", { type: "button", title: "Copy the pack, to paste it into a prompt (c)", on: { click: copyPack } }, "Copy"));
  const notes = answer.diagnostics.map((each) => each.detail);
  if (stage) notes.unshift(`Answered from an older index; still indexing: ${stage}`);
  if (answer.repository.stale) notes.unshift("Files have changed since they were indexed.");
  parts.push(...notes.slice(0, 3).map((text) => make("span", { class: "note" }, text)));
  $("facts").replaceChildren(...parts);
}

async function copyPack() {
  if (!state.answer || !state.answer.pack) return;
  try {
    await navigator.clipboard.writeText(state.answer.pack.text);
    say(`Copied: ${state.answer.pack.tokens} tokens`);
  } catch {
    say("The browser does not let this page copy");
  }
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    say("Copied the address of this view");
  } catch {
    say("The browser does not let this page copy");
  }
}

// -- opening a file in an editor

function editorTemplate() {
  const chosen = $("editor").value;
  return chosen === "own" ? $("template").value.trim() : EDITORS[chosen][1];
}

// The address that opens a place; null for a template that is none or that leads into the web.
function editorAddress(path, line) {
  const template = editorTemplate();
  const scheme = (template.match(/^([a-z][a-z0-9+.-]*):\/\//i) || ["", ""])[1].toLowerCase();
  if (!scheme || /^(https?|wss?|ftp|file|blob|data|about|view-source)$/.test(scheme) || !template.includes("{path}")) return null;
  const whole = `${state.root.startsWith("/") ? "" : "/"}${state.root.replace(/\/$/, "")}/${path}`;
  const given = { path: encodeURI(whole).replace(/[?#&]/g, encodeURIComponent), line: String(line) };
  return template.replace(/\{(path|line)\}/g, (_, name) => given[name]);
}

function editorLink(node) {
  if (!state.root || !node.path || node.kind === "external") return null;
  const to = editorAddress(node.path, node.start_line || 1);
  const named = $("editor").value === "own" ? "your editor" : EDITORS[$("editor").value][0];
  return to && make("a", { id: "open", class: "button", href: to, title: "o" }, `Open in ${named}`);
}

function setEditor(store) {
  const isOwn = $("editor").value === "own";
  $("template").hidden = !isOwn;
  if (store) {
    localStorage.setItem("editor", $("editor").value);
    localStorage.setItem("template", $("template").value);
    if (isOwn && $("template").value && !editorAddress("x", 1)) say("A template is like myeditor://open{path}:{line}");
  }
  const old = $("open");
  if (state.shown) {
    const now = editorLink(state.shown);
    if (old && now) old.replaceWith(now);
    else if (old) old.remove();
    else if (now) document.querySelector("#code .pictures").append(now);
  }
}

// Long names and paths break behind a separator.
function breakable(text) {
  return text.split(/(?<=[./:])(?=[^./:])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

// Names in ids have their own dots, colons and tildes escaped.
function plain(name) {
  return [["%7E", "~"], ["%2E", "."], ["%3A%3A", "::"], ["%23", "#"], ["%25", "%"]].reduce((text, [escaped, sign]) => text.replaceAll(escaped, sign), name);
}

function nameOf(id) {
  return plain(escapedNameOf(id));
}

function escapedNameOf(id) {
  const shown = state.nodes[id];
  if (shown && shown.symbol) return shown.symbol;
  if (id.includes("#")) return (shown && shown.signature) || id.slice(id.indexOf("#") + 1);
  const symbol = id.indexOf("::");
  return symbol >= 0 ? id.slice(symbol + 2) : id.slice(id.lastIndexOf("/") + 1);
}

function lastOf(id) {
  const name = escapedNameOf(id);
  return plain(name.slice(name.lastIndexOf(".", name.length - 2) + 1) || name);
}

function placeOf(shown) {
  if (!shown || !shown.path) return "";
  const lines = shown.end_line > shown.start_line ? `${shown.start_line}–${shown.end_line}` : `${shown.start_line}`;
  return shown.kind === "file" ? shown.path : `${shown.path}:${lines}`;
}

function hitOf(result) {
  const bar = make("i");
  bar.style.width = `${Math.max(2, Math.round((result.score / state.best) * 100))}%`;
  const why = make("div", { class: "why" });
  const reasons = result.reasons.slice(0, 3);
  reasons.forEach((reason, i) => {
    why.append(make("b", {}, reason.signal), reason.detail ? ` ${reason.detail}` : "", i + 1 < reasons.length ? " · " : "");
  });
  const item = make("button", { type: "button", class: "hit", "data-node": result.node, on: { click: () => choose(result.node, { narrow: true }) } },
    make("span", { class: "rank" }, String(result.rank)),
    make("span", {},
      make("span", { class: "name" }, ...breakable(nameOf(result.node))), make("span", { class: "kind" }, result.kind),
      make("div", { class: "place" }, ...breakable(placeOf(result))), reasons.length ? why : null, make("div", { class: "score" }, bar)));
  return make("li", {}, item);
}

// -- the drawing: rows in causal order, arcs from what uses to what is used

const WIDTH = 330, ROW = 27, ARCS = 96;

function draw() {
  const { answer } = state;
  const rows = Object.fromEntries(answer.order.map((id, row) => [id, row]));
  const svg = make("svg:svg", { viewBox: `0 0 ${WIDTH} ${answer.order.length * ROW + 4}`, role: "group", "aria-label": "The order, and what uses what" });
  svg.append(make("svg:defs", {}, make("svg:marker", { id: "arrow", viewBox: "0 0 6 6", refX: 6, refY: 3, markerWidth: 5, markerHeight: 5, orient: "auto" },
    make("svg:path", { d: "M0 0L6 3L0 6z" }))));
  const spans = new Map();
  const weight = (edge) => (edge.removed ? 0 : 3) + (edge.kind === "calls" ? 2 : edge.kind === "contains" ? 0 : 1);
  const edges = [...answer.edges, ...answer.removed_edges.map((edge) => ({ ...edge, removed: true }))];
  for (const edge of edges.sort((a, b) => weight(a) - weight(b))) {
    const [a, b] = [rows[edge.source], rows[edge.target]];
    if (a !== undefined && b !== undefined && a !== b) spans.set(`${a} ${b}`, { a, b, edge });
  }
  const lanes = [];
  const placed = [...spans.values()].sort((x, y) => Math.abs(x.a - x.b) - Math.abs(y.a - y.b) || x.a - y.a || x.b - y.b);
  for (const span of placed) {
    const [low, high] = [Math.min(span.a, span.b), Math.max(span.a, span.b)];
    span.lane = lanes.findIndex((taken) => taken.every(([from, to]) => high <= from || to <= low));
    if (span.lane < 0) span.lane = lanes.push([]) - 1;
    lanes[span.lane].push([low, high]);
  }
  const step = Math.min(11, (ARCS - 16) / Math.max(1, lanes.length - 1));
  const arcs = make("svg:g", { id: "arcs" });
  for (const { a, b, edge, lane } of placed.reverse()) {
    const x = ARCS, [y1, y2] = [a * ROW + ROW / 2 + 2, b * ROW + ROW / 2 + 2];
    const control = (x - (12 + lane * step) * 4 / 3).toFixed(1);
    const way = edge.line ? `, line ${edge.line}` : "";
    arcs.append(make("svg:path", {
      class: [edge.kind === "contains" ? "contains" : "", edge.removed ? "removed" : ""].join(" ").trim() || false,
      "data-source": edge.source, "data-target": edge.target, "marker-end": "url(#arrow)",
      d: `M${x} ${y1}C${control} ${y1} ${control} ${y2} ${x} ${y2}`,
    }, make("svg:title", {}, `${nameOf(edge.source)} ${edge.kind} ${nameOf(edge.target)}${way}, confidence ${edge.confidence}`)));
  }
  svg.append(arcs);
  answer.order.forEach((id, row) => {
    const y = row * ROW + ROW / 2 + 2, rank = state.ranks[id];
    const label = nameOf(id);
    const open = () => choose(id, { narrow: true });
    svg.append(make("svg:g", {
      role: "button", tabindex: 0, class: rank ? false : "via", "data-node": id,
      on: { click: open, keydown: (event) => { if (event.key === "Enter") { event.stopPropagation(); open(); } } },
    },
    make("svg:rect", { class: "back", x: ARCS - 1, y: y - ROW / 2 + 1, width: WIDTH - ARCS, height: ROW - 2, rx: 6 }),
    make("svg:circle", { cx: ARCS + 13, cy: y, r: rank ? 8.5 : 4 }),
    rank ? make("svg:text", { class: "number", x: ARCS + 13, y: y + 0.5 }, String(rank)) : null,
    make("svg:text", { x: ARCS + 29, y }, label.length > 26 ? `${label.slice(0, 9)}…${label.slice(-16)}` : label),
    make("svg:title", {}, `${label}\n${placeOf(state.nodes[id])}${rank ? "" : "\non the way to a result"}`)));
  });
  $("picture").replaceChildren(svg);
  const isSetAside = edges.some((edge) => edge.removed);
  $("legend").textContent = `· arcs lead to what is used${isSetAside ? "; dashed: set aside, because it closes a circle" : ""}`;
}

function mark() {
  const id = state.chosen;
  const result = state.answer.results.find((each) => each.node === id);
  const way = result ? result.path_from_seed.map((hop) => hop.node) : [];
  const pairs = new Set();
  way.slice(1).forEach((node, i) => { pairs.add(`${way[i]}\n${node}`); pairs.add(`${node}\n${way[i]}`); });
  for (const item of document.querySelectorAll("#results .hit")) {
    item.setAttribute("aria-current", String(item.dataset.node === id));
  }
  for (const group of document.querySelectorAll("#picture g[data-node]")) {
    group.classList.toggle("chosen", group.dataset.node === id);
    group.classList.toggle("onway", way.length > 1 && way.includes(group.dataset.node));
  }
  for (const path of document.querySelectorAll("#arcs > path")) {
    const { source, target } = path.dataset;
    path.classList.toggle("touches", source === id || target === id);
    path.classList.toggle("onway", pairs.has(`${source}\n${target}`));
  }
  for (const each of document.querySelectorAll("#changes .link")) each.setAttribute("aria-current", String(each.title === id));
  if ($("arcs")) $("arcs").classList.toggle("faded", state.answer.order.includes(id));
}

// -- the code of one node

async function choose(id, { push = true, narrow = false } = {}) {
  state.chosen = id;
  const opened = ++state.opened;
  if (push) history.replaceState(null, "", address(id));
  mark();
  const item = [...document.querySelectorAll("#results .hit")].find((each) => each.dataset.node === id);
  if (item) item.scrollIntoView({ block: "nearest" });
  const row = [...document.querySelectorAll("#picture g[data-node]")].find((each) => each.dataset.node === id);
  if (row) row.scrollIntoView({ block: "nearest" });
  if (narrow) tab("code");
  try {
    const found = await patiently("/api/node", { node: id }, () => opened === state.opened);
    if (found === null) return;
    showProgress(null);
    showCode(found);
  } catch (error) {
    if (opened !== state.opened) return;
    $("code").replaceChildren(make("h2", {}, nameOf(id)), make("p", { class: "place" }, error.message));
  }
}

function link(id, text) {
  const isOutside = id.startsWith("external:");
  return make("button", { type: "button", class: "link", title: id, disabled: isOutside ? "" : false, on: { click: () => choose(id, { narrow: true }) } }, ...breakable(text || nameOf(id)));
}

function showCode({ node, callers, references, callees, colors }) {
  state.nodes[node.node] = node;
  state.shown = node;
  const result = state.answer.results.find((each) => each.node === node.node);
  const chips = [node.kind, node.layer && `layer ${node.layer}`, node.tier !== "leaf" && node.tier].filter(Boolean).map((text) => make("span", {}, text));
  for (const reason of result ? result.reasons : []) {
    chips.push(make("span", { title: `${reason.signal}: ${reason.value}` }, make("b", {}, reason.signal), reason.detail ? ` ${reason.detail}` : ""));
  }
  const parts = [
    make("h2", {}, result ? `${result.rank}. ` : "", ...breakable(nameOf(node.node))),
    make("p", { class: "place" }, ...breakable(placeOf(node))),
    make("div", { class: "chips" }, ...chips),
    picturesOf(node),
  ];
  if (node.doc && !node.text) parts.push(make("p", { class: "part" }, node.doc));
  const way = result ? result.path_from_seed : [];
  if (way.length > 1) {
    const hops = [link(way[0].node)];
    for (const hop of way.slice(1)) {
      hops.push(make("span", {}, `${hop.edge}${hop.line ? `, line ${hop.line}` : ""} →`), link(hop.node));
    }
    parts.push(make("p", { class: "part" }, "How it was reached"), make("div", { class: "way" }, ...hops));
  }
  parts.push(sourceOf(node, colors));
  const lists = [["Called by", callers, "source"], ["Used by", references, "source"], ["Calls", callees, "target"]]
    .filter(([, found]) => found.n).map(([title, found, end]) => usesOf(title, found, end));
  const columns = make("div", { class: "columns" }, ...lists);
  parts.push(columns);
  if (node.kind !== "external" && callers.n + references.n <= MOST_USERS) addTests(node.node, columns);
  else if (node.kind !== "external") {
    const find = make("button", { type: "button", id: "find-tests", on: { click: () => { find.remove(); addTests(node.node, columns); } } }, "Find the tests that may run it");
    columns.append(make("div", {}, find));
  }
  $("code").replaceChildren(...parts);
  $("code").scrollTop = 0;
}

// Tests come by themselves: for what all code uses, they take seconds.
async function addTests(id, columns) {
  const opened = state.opened;
  try {
    const found = await patiently("/api/tests", { node: id }, () => opened === state.opened);
    if (found === null || !found.n) return;
    columns.append(make("div", {}, make("p", { class: "part" }, `Tests that may run it ${found.n}`), listOf(found.tests.map((each) =>
      make("li", {}, link(each.node), make("span", {}, `${each.depth} step${each.depth > 1 ? "s" : ""}`))), found.n)));
  } catch (error) {
    if (opened === state.opened) columns.append(make("p", { class: "part" }, `Tests: ${error.message}`));
  }
}

// -- pictures: elements of SVG from the server, whose boxes lead to the code

function picturesOf(node) {
  const id = node.node;
  const others = state.answer.results.map((result) => result.node).filter((other) => other !== id);
  const to = make("select", { "aria-label": "Path to", on: { change: () => { if (to.value) drawn("path", { node: id, to: to.value }); to.value = ""; } } },
    make("option", { value: "" }, "Path to …"), ...others.map((other) => make("option", { value: other }, nameOf(other))));
  return make("div", { class: "pictures" },
    ownPage(id),
    node.kind === "external" || isAll() ? null : make("button", { type: "button", id: "impact", title: "i", on: { click: () => drawn("impact", { node: id }) } }, "What depends on it"),
    others.length && !isAll() ? to : null,
    make("button", { type: "button", id: "copy-link", title: "l", on: { click: copyLink } }, "Copy link"),
    editorLink(node));
}

const SHAPES = new Set(["svg", "title", "defs", "marker", "path", "rect", "text", "g"]);

function built([tag, attributes, ...children]) {
  if (!SHAPES.has(tag)) throw new Error(`A picture has no ${tag}`);
  return make(`svg:${tag}`, attributes, ...children.map((child) => (typeof child === "string" ? child : built(child))));
}

async function drawn(view, nodes, { push = true } = {}) {
  const asked = ++state.pictured;
  try {
    const found = await patiently("/api/picture", { view, ...nodes }, () => asked === state.pictured);
    if (found === null) return;
    showProgress(null);
    const svg = built(found.picture);
    $("drawn-title").textContent = svg.querySelector("title").textContent;
    for (const box of svg.querySelectorAll("g[data-node]")) {
      const open = () => { $("drawn").close(); openNode(box.dataset.node); };
      box.setAttribute("role", "button");
      box.setAttribute("tabindex", "0");
      box.addEventListener("click", open);
      box.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); open(); } });
    }
    $("drawn-svg").replaceChildren(svg);
    if (push) history.pushState(null, "", address(nodes.node || state.chosen, { view, nodes }));
    if (!$("drawn").open) $("drawn").showModal();
    // A hub stands in the middle of a column of users, which may be longer than the window.
    const middle = [...svg.querySelectorAll("g[data-node]")].find((box) => box.dataset.node === nodes.node);
    if (middle) middle.scrollIntoView({ block: "center", inline: "nearest" });
  } catch (error) {
    if (asked === state.pictured) say(error.message);
  }
}

// Without an answer on the page, a box of a picture is a page of its own.
function openNode(id) {
  if (state.answer) return choose(id, { narrow: true });
  showAlone(id);
  history.pushState(null, "", address(id));
}

// The text of a line in parts, each with its class; `skipped` characters at its start are left out.
function coloredLine(text, runs, skipped) {
  if (!runs) return [text];
  const parts = [];
  let at = -skipped;
  for (let i = 0; i < runs.length; i += 2) {
    const part = text.slice(Math.max(0, at), Math.max(0, at + runs[i]));
    at += runs[i];
    if (part) parts.push(runs[i + 1] ? make("span", { class: `t-${runs[i + 1]}` }, part) : part);
  }
  if (at < text.length) parts.push(text.slice(Math.max(0, at)));
  return parts;
}

function sourceOf(node, colors) {
  if (!node.text) {
    return make("p", { class: "part" }, node.stale ? "The file has changed since it was indexed; ask again to see it." : "Nothing to show.");
  }
  let lines = node.text.replace(/\n$/, "").split("\n");
  const indents = lines.filter((line) => line.trim()).map((line) => line.match(/^\s*/)[0]);
  const shared = indents.reduce((a, b) => { while (!b.startsWith(a)) a = a.slice(0, -1); return a; }, indents[0] || "");
  lines = lines.map((line) => (line.startsWith(shared) ? line.slice(shared.length) : line));
  const sites = new Map();
  for (const edge of state.answer.edges) {
    if (edge.source === node.node && edge.line && edge.kind !== "contains") {
      sites.set(edge.line, [...(sites.get(edge.line) || []), edge]);
    }
  }
  const body = make("tbody");
  const row = (text, i) => {
    const number = node.start_line + i;
    const uses = sites.get(number) || [];
    const links = make("td", { class: "uses" });
    for (const edge of uses.slice(0, 2)) {
      links.append(make("button", { type: "button", class: "to", title: edge.target, on: { click: () => choose(edge.target, { narrow: true }) } }, "→ ", make("span", {}, lastOf(edge.target))));
    }
    return make("tr", { class: uses.length ? "site" : false }, make("td", {}, String(number)), make("td", {}, ...coloredLine(text, colors[i], shared.length)), uses.length ? links : null);
  };
  body.append(...lines.slice(0, MOST_LINES).map(row));
  const box = make("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source" }, make("table", {}, body));
  if (lines.length > MOST_LINES) {
    const rest = make("button", { type: "button", class: "more", on: { click: () => {
      body.append(...lines.slice(MOST_LINES).map((text, i) => row(text, i + MOST_LINES)));
      rest.remove();
    } } }, `${lines.length - MOST_LINES} more lines`);
    box.append(rest);
  }
  return box;
}

function usesOf(title, found, end) {
  const rows = found.edges.map((edge) => make("li", {}, link(edge[end]),
    make("span", {}, `${edge.line ? `line ${edge.line} · ` : ""}${edge.confidence.toFixed(2)}`)));
  return make("div", {}, make("p", { class: "part" }, `${title} ${found.n}`), listOf(rows, found.n));
}

// -- keys, tabs, history

function tab(name) {
  $("main").dataset.tab = name;
  for (const button of document.querySelectorAll(".tabs button")) {
    button.setAttribute("aria-selected", String(button.dataset.tab === name));
  }
}

function step(by) {
  if (!state.answer || !state.answer.results.length) return;
  const ids = state.answer.results.map((result) => result.node);
  const at = ids.indexOf(state.chosen);
  choose(ids[Math.min(ids.length - 1, Math.max(0, at < 0 ? 0 : at + by))]);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open || $("drawn").open) return;
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") {
    if (isTyping) event.target.blur();
    tab("list");
    const item = document.querySelector('.hit[aria-current="true"]');
    if (item) item.focus({ preventScroll: true });
    return;
  }
  if (isTyping) return;
  const run = {
    "/": () => { $("question").focus(); $("question").select(); },
    j: () => step(1),
    k: () => step(-1),
    c: copyPack,
    l: copyLink,
    i: () => { if ($("impact")) $("impact").click(); },
    o: () => { if ($("open")) $("open").click(); },
    "?": () => $("help").showModal(),
    Enter: () => { if (state.chosen && !/^(BUTTON|A|G)$/i.test(event.target.tagName)) { tab("code"); $("code").focus(); } else return true; },
  }[event.key];
  if (run && run() !== true) event.preventDefault();
});

async function fromAddress({ typed = "" } = {}) {
  const query = new URLSearchParams(location.search);
  const node = query.get("node"), picture = pictureOf(query), named = query.get("repository");
  ++state.pictured;
  if ($("drawn").open) $("drawn").close();
  if (!enter(named === null ? state.served[0] : named)) return;
  setForm(query);
  if (typed && !query.get("q")) $("question").value = typed;
  if (query.get("view") === "changes") await showChanges({ node, push: false });
  else if (query.get("q")) await ask(query.get("q"), { node, push: false });
  else if (node) showAlone(node);
  else {
    Object.assign(state, { answer: null, question: "", isReview: false, chosen: null, shown: null });
    welcome();
  }
  if (picture) drawn(picture.view, picture.nodes, { push: false });
}

// All repositories of a fleet have the name *.
function isAll() {
  return state.repository === "*";
}

function titleOf(name) {
  return name === "*" ? "All repositories" : name || "Causalist";
}

// Where a definition of an answer over all repositories stands in the page of its own.
function ownPage(id) {
  const outside = id.startsWith("external:"), inside = outside ? id.slice(9) : id;
  const name = state.served.filter((each) => inside.startsWith(`${each}:`)).sort((a, b) => b.length - a.length)[0];
  if (!isAll() || !name) return null;
  const node = `${outside ? "external:" : ""}${inside.slice(name.length + 1)}`;
  return make("a", { class: "button", id: "own-page", href: `/?${new URLSearchParams({ repository: name, node })}` }, `Open in ${name}`);
}

// Shows a repository; false if none has this name. Nothing of the one before stays, nor what it still answers.
function enter(name) {
  if (name === state.repository) return true;
  for (const count of ["asked", "opened", "pictured"]) ++state[count];
  Object.assign(state, { answer: null, nodes: {}, question: "", isReview: false, chosen: null, shown: null, root: "", overview: null });
  for (const id of ["facts", "results", "changes", "picture", "legend", "code", "drawn-svg", "examples", "about", "starts", "counts"]) $(id).replaceChildren();
  $("where").hidden = true;
  showProgress(null);
  state.repository = state.served.includes(name) ? name : null;
  $("repositories").value = state.repository || "";
  $("repository").textContent = titleOf(state.repository);
  $("show-folders").hidden = isAll();
  if (state.repository === null) {
    blank("No such repository", `Nothing that is served here is called ${name}. Choose one of ${state.served.join(", ")}.`, true);
    return false;
  }
  const asked = state.asked, isShown = () => state.repository === name;
  const isBlank = () => isShown() && state.asked === asked;
  patiently("/api/status", undefined, isShown).then((info) => {
    if (info === null) return null;
    if (isBlank()) showProgress(null);
    state.root = info.repository.root;
    setEditor(false);
    for (const id of ["show-changes", "show-review"]) $(id).hidden = !state.root; // an index alone has no files to compare
    $("counts").textContent = `${info.files} files, ${info.nodes} nodes and ${info.edges} edges are indexed.`;
    return null;
  }).catch((error) => { if (isBlank()) blank("That did not work", error.message, true); });
  return true;
}

// The overview is asked for once, when the page before the first question is shown: in large repositories it takes seconds.
function welcome() {
  document.title = state.served.length > 1 ? `${titleOf(state.repository)} – Causalist` : "Causalist";
  blank(isAll() ? "Ask all repositories" : "Ask this repository", "In plain words, with a name, a path or a traceback. The answer is the code itself: what matters, how it hangs together, in causal order.");
  const name = state.repository;
  if (state.overview === name || isAll()) return;
  state.overview = name;
  patiently("/api/overview", {}, () => state.repository === name).then((found) => { if (found !== null) showOverview(found); })
    .catch((error) => { if (state.repository === name) { state.overview = null; say(error.message); } });
}

// What the repository is, with questions of its own, on the page before the first one.
function showOverview(found) {
  const asks = (text) => make("li", {}, make("button", { type: "button", on: { click: () => { $("question").value = text; ask(text); } } }, text));
  const opens = (id, text, told) => make("li", {}, make("button", { type: "button", class: "link", title: id, on: { click: () => openNode(id) } }, ...breakable(text)), told ? make("span", {}, told) : null);
  if (found.questions.length) $("examples").replaceChildren(...found.questions.map(asks));
  $("about").replaceChildren(...[...new Set([found.paragraph || found.summary])].filter(Boolean).map((text) => make("p", {}, text)));
  const starts = [
    ...found.entries.map((each) => opens(each.node, each.name, { command: "command", run: "file to run", import: "module to import" }[each.kind])),
    ...found.definitions.map((each) => opens(each.node, each.symbol || each.path, each.doc || each.kind))];
  $("starts").replaceChildren(...starts);
  $("where").hidden = !starts.length;
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = $("question").value.trim();
  if (!question) return;
  $("question").blur();
  ask(question);
});
for (const name of [...Object.keys(OPTIONS), "graph"]) {
  $(name).addEventListener("change", () => { if (state.question) ask(state.question); });
}
$("show-options").addEventListener("click", () => {
  $("options").hidden = !$("options").hidden;
  $("show-options").setAttribute("aria-expanded", String(!$("options").hidden));
});
$("show-folders").addEventListener("click", () => drawn("topo", {}));
for (const id of ["show-changes", "show-review"]) $(id).addEventListener("click", () => showChanges());
$("show-help").addEventListener("click", () => $("help").showModal());
$("theme").addEventListener("click", () => {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (isDark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  setTheme(next);
  localStorage.setItem("theme", next);
});
for (const button of document.querySelectorAll(".tabs button")) button.addEventListener("click", () => tab(button.dataset.tab));
for (const button of document.querySelectorAll(".tabs button")) {
  button.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const shown = [...document.querySelectorAll(".tabs button")].filter((each) => each.offsetParent);
    if (by) shown[(shown.indexOf(button) + by + shown.length) % shown.length].focus();
  });
}
$("drawn").addEventListener("close", () => {
  if (pictureOf(new URLSearchParams(location.search))) history.replaceState(null, "", address(state.chosen));
});
$("editor").append(...Object.entries(EDITORS).map(([value, [name]]) => make("option", { value }, name)), make("option", { value: "own" }, "another"));
$("editor").value = localStorage.getItem("editor") || "vscode";
if (!$("editor").value) $("editor").value = "vscode";
$("template").value = localStorage.getItem("template") || "";
setEditor(false);
for (const id of ["editor", "template"]) $(id).addEventListener("change", () => setEditor(true));
window.addEventListener("popstate", () => fromAddress());
setTheme(localStorage.getItem("theme"));
$("repositories").addEventListener("change", () => {
  const query = new URLSearchParams({ repository: $("repositories").value });
  history.pushState(null, "", `/?${query}`);
  fromAddress();
});
call("/api/repositories").then(({ repositories, all }) => {
  if (all) repositories.unshift({ name: "*", root: "" });
  state.served = repositories.map((each) => each.name);
  $("repositories").replaceChildren(...repositories.map((each) => make("option", { value: each.name, title: each.root }, titleOf(each.name))));
  $("repositories").hidden = repositories.length < 2;
  $("repository").classList.toggle("sr", repositories.length > 1);
  return fromAddress({ typed: $("question").value }); // who types at once loses nothing
}).catch((error) => blank("That did not work", error.message, true));
if (!location.search) $("question").focus();
