"use strict";
// Pages work without this. It sends forms without loading the page anew, keeps an answer that
// could not be sent, answers to keys, and follows the poll on the board.
(() => {
  const main = () => document.querySelector("main");
  let changed = 0, waiting = null, source = null;

  function show(text, focus) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.querySelector("main");
    if (!fresh) { return; }
    main().replaceWith(document.importNode(fresh, true));
    document.title = page.title;
    changed = performance.now();
    if (focus) { main().focus({ preventScroll: true }); }
    follow();
  }

  async function look() {
    if (main().contains(document.activeElement) && document.activeElement.matches("input")) {
      return;
    }
    const answer = await fetch(main().dataset.look || location.href);
    if (answer.ok) { show(await answer.text(), false); }
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
    if (waiting || performance.now() - changed < 300) { return; }
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

  window.addEventListener("online", () => { if (waiting) { send(waiting); } });

  follow();
})();
