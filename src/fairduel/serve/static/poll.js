"use strict";
// Pages work without this. It sends forms without loading the page anew, keeps an answer that
// could not be sent, answers to keys, and follows the poll.
(() => {
  const main = () => document.querySelector("main");
  let drawn = main().innerHTML, changed = 0, waiting = null, source = null, late = false;

  function show(text, focus) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.querySelector("main");
    if (!fresh || (!focus && fresh.innerHTML === drawn)) { return; }
    const pair = question(), unfolded = new Set(unfoldable().filter((d) => d.open).map(label));
    drawn = fresh.innerHTML;
    main().replaceWith(document.importNode(fresh, true));
    document.title = page.title;
    for (const details of unfoldable()) { details.open = unfolded.has(label(details)); }
    if (question() !== pair) { changed = performance.now(); }
    if (focus) { main().focus({ preventScroll: true }); }
    follow();
  }

  const question = () => main().querySelector("form:has(.pair) [name=n]")?.value;
  const unfoldable = () => [...main().querySelectorAll("details")];
  const label = (details) =>
    `${details.closest("li")?.value} ${details.querySelector("summary").textContent}`;

  async function look() {
    late = main().contains(document.activeElement)
      && document.activeElement.matches("input, select, textarea");
    if (late || waiting) { return; }
    const answer = await fetch(main().dataset.look || location.href);
    if (answer.ok && !waiting) { show(await answer.text(), false); }
  }

  function follow() {
    const stream = main().dataset.stream ? new URL(main().dataset.stream, location).href : null;
    if ((source && source.url) === stream) { return; }
    if (source) { source.close(); }
    source = stream && new EventSource(stream);
    if (source) { source.addEventListener("message", look); }
  }

  async function send(request) {
    waiting = request;
    try {
      const answer = await fetch(request.url, { method: "POST", body: request.body });
      if (answer.status === 503 || answer.status === 429) { throw new Error(); }
      waiting = null;
      show(await answer.text(), true);
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
    // A second tap is meant for the pair that has just gone.
    const hasty = form.querySelector(".pair") && performance.now() - changed < 300;
    if (waiting || hasty) { return; }
    const body = new URLSearchParams(new FormData(form));
    if (button && button.name) { body.set(button.name, button.value); }
    send({ url: form.action, body });
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.target.matches("input, textarea, select")) { return; }
    const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (button) { event.preventDefault(); button.click(); }
  });

  document.addEventListener("focusout", () => { if (late) { setTimeout(look, 100); } });

  window.addEventListener("online", () => { if (waiting) { send(waiting); } });

  follow();
})();
