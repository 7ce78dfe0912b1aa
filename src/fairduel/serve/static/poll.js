"use strict";
// Pages work without this. It sends forms without loading the page anew, keeps an answer that
// could not be sent, answers to keys, and follows the poll.
(() => {
  const main = () => document.querySelector("main");
  const controls = "a, button, summary, input, select, textarea";
  let changed = 0, sent = "", waiting = null; // when the pair last changed; forms that are sent
  let source = null, news = null, turn = 0; // what the poll has told; looks that are out of date

  const question = () => main().querySelector("form:has(.pair) [name=n]")?.value;
  const unfoldable = () => [...main().querySelectorAll("details")];
  const label = (details) =>
    `${details?.closest("li")?.value} ${details?.querySelector("summary").textContent}`;
  const alike = (other) => [...main().querySelectorAll(controls)].filter((one) =>
    one.tagName === other.tagName && one.textContent === other.textContent
    && one.name === other.name && one.value === other.value);
  const fields = () => [...main().querySelectorAll("input:not([type=hidden]), select, textarea")];
  const dirty = () => fields().filter((one) => one.tagName === "SELECT"
    ? one.selectedIndex !== Math.max(0, [...one.options].findIndex((each) => each.defaultSelected))
    : one.value !== one.defaultValue); // typed or chosen, and not sent yet
  const key = (one) => one.id || `${label(one.closest("details"))} ${one.name}`;

  const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
  // Another person may have opened their own link in this browser.
  const ours = (text) => parsed(text).querySelector("main")?.dataset.voter === main().dataset.voter;

  function show(text, focus) {
    const page = parsed(text);
    const fresh = page.querySelector("main");
    if (!fresh) { return; }
    const old = main(), pair = question(), focused = document.activeElement;
    const place = alike(focused).indexOf(focused), unsent = dirty().map((one) => [key(one), one.value]);
    const unfolded = new Set(unfoldable().filter((details) => details.open).map(label));
    old.replaceWith(document.importNode(fresh, true));
    document.title = page.title;
    for (const one of fields()) {
      const [, value] = unsent.find(([other]) => other === key(one)) || [];
      if (value !== undefined) { one.value = value; }
    }
    if (question() !== pair) { changed = performance.now(); }
    if (focus) {
      main().focus({ preventScroll: true });
    } else {
      for (const details of unfoldable()) { details.open = unfolded.has(label(details)); }
      main().append(...old.querySelectorAll("[data-keep]"));
      alike(focused)[place]?.focus({ preventScroll: true });
    }
    follow();
  }

  function typing() {
    const active = document.activeElement;
    return main().contains(active) && active.matches("input, select, textarea");
  }

  async function look() {
    if (news === null || news === main().dataset.news || waiting || typing()) { return; }
    news = null;
    const own = ++turn;
    const answer = await fetch(main().dataset.look || location.href);
    const text = await answer.text();
    if (answer.ok && own === turn && !typing() && ours(text)) { show(text, false); }
  }

  function follow() {
    const stream = main().dataset.stream ? new URL(main().dataset.stream, location).href : null;
    if ((source && source.url) === stream) { return; }
    if (source) { source.close(); }
    news = null;
    source = stream && new EventSource(stream);
    if (!source) { return; }
    source.addEventListener("message", (event) => { news = event.data; look(); });
    source.addEventListener("error", (event) => { if (event.target.readyState === 2) { gone(); } });
    source.addEventListener("error", () => { setTimeout(lose, 4000); });
    source.addEventListener("open", lose);
  }

  // The board says when it is out of date; the stream connects again by itself.
  function lose() {
    const note = document.querySelector("#lost");
    if (note && source) { note.hidden = source.readyState === 1; }
  }

  // The stream has been refused: perhaps the link opens nothing any more, and the page says so.
  async function gone() {
    const answer = await fetch(main().dataset.look || location.href);
    if (!answer.ok && !waiting) { show(await answer.text(), true); }
  }

  async function send(request) {
    waiting = request;
    turn += 1;
    try {
      const answer = await fetch(request.url, { method: "POST", body: request.body });
      if (answer.status === 503 || answer.status === 429) { throw new Error(); }
      const text = await answer.text();
      waiting = null;
      show(text, true);
      look();
    } catch {
      const note = document.querySelector("#offline");
      if (note) { note.hidden = false; }
      setTimeout(() => { if (waiting === request) { send(request); } }, 2000);
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target, button = event.submitter;
    if (!form.matches("[data-quick]")) { return; }
    event.preventDefault();
    // A second tap is meant for what has just gone.
    const again = form.querySelector(".pair") || form.action === sent;
    if (waiting || (again && performance.now() - changed < 300)) { return; }
    const body = new URLSearchParams(new FormData(form));
    if (button && button.name) { body.set(button.name, button.value); }
    sent = form.action;
    send({ url: form.action, body });
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) { return; }
    if (event.target.matches("input, textarea, select")) { return; }
    const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (button) { event.preventDefault(); button.click(); }
  });

  document.addEventListener("focusout", () => { setTimeout(look, 100); });
  window.addEventListener("online", () => { if (waiting) { send(waiting); } });

  follow();
})();
