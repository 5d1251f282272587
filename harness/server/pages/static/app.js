"use strict";
// Scripts of the pages: search while typing, passages of a report, progress of a research, confirmation of deletions,
// copies, keyboard shortcuts.
document.documentElement.classList.add("scripted");
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const ABSENT = "The server does not respond. Stored results are not lost; this page waits for the server …";

function announce(words) {
  one("#said").textContent = words;
}

async function ask(method, address, body) {
  const headers = { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) };
  const response = await fetch(address, { method, headers, body }).catch(() => {
    throw new Error("The server does not respond. Is it still running?");
  });
  const result = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(result.message || `The server responded with status ${response.status}.`);
  return result;
}

// Reload only once the server responds: the browser's own error page would not recover.
async function reloadWhenServed(show) {
  try {
    await fetch("/healthz");
    location.reload();
  } catch {
    show(ABSENT);
    setTimeout(reloadWhenServed, 1000, show);
  }
}

// Buttons that call the API, forms that start work -------------------------------------------------------------------

addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-address]"); // lists are replaced during typing
  if (!button) return;
  const { method, address, body, then } = button.dataset;
  if (button.dataset.confirm && !confirm(button.dataset.confirm)) return;
  announce("");
  button.disabled = true;
  try {
    const response = await ask(method, address, body);
    if (then === "reload") location.reload();
    else location.assign(then === "page" ? response.page : then);
  } catch (error) {
    announce(error.message);
    button.disabled = false;
  }
});

for (const button of all("button[data-copy]")) {
  button.addEventListener("click", async () => {
    try {
      if (!navigator.clipboard) throw new Error("The browser copies only over https; download the Markdown instead.");
      await navigator.clipboard.writeText((await ask("GET", button.dataset.copy)).markdown);
      announce("Copied.");
      setTimeout(() => announce(""), 3000);
    } catch (error) {
      announce(error.message);
    }
  });
}

const menus = all("details.menu");
addEventListener("click", (event) => {
  menus.filter((menu) => !menu.contains(event.target)).forEach((menu) => (menu.open = false));
});

const engine = one("#engine");
const suggest = () => (one("#question").placeholder = engine.selectedOptions[0].dataset.question);
engine?.addEventListener("change", suggest);
if (engine) suggest();

const submits = all('form[method="post"] button');
addEventListener("submit", (event) => {
  // after sending: a second click would start a second research
  if (event.target.method === "post") setTimeout(() => all("button", event.target).forEach((each) => (each.disabled = true)));
});
addEventListener("pageshow", () => submits.forEach((each) => (each.disabled = false)));

// Search while typing ------------------------------------------------------------------------------------------------

for (const form of all("form[data-live]")) {
  const list = one(form.dataset.live);
  let waiting = 0;
  let latest = null;
  const search = async () => {
    latest?.abort();
    latest = new AbortController();
    const filters = new URLSearchParams(new FormData(form));
    list.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(`/?part=1&${filters}`, { signal: latest.signal });
      if (response.redirected) return location.assign("/login"); // the token is no longer valid
      if (!response.headers.get("Content-Type")?.startsWith("text/html")) throw new Error((await response.json()).message);
      list.innerHTML = await response.text(); // made by the server's templates, which escape every text
      history.replaceState(null, "", `/?${filters}`);
      const found = all(".past > li", list).length;
      one("#found-count").textContent = found ? `${found}${one("[rel=next]", list) ? " or more" : ""} found` : list.textContent.trim();
      announce("");
    } catch (error) {
      if (error.name === "AbortError") return;
      announce(`The search failed: ${error.message}`);
    }
    list.setAttribute("aria-busy", "false");
  };
  const soon = (after) => {
    clearTimeout(waiting);
    waiting = setTimeout(search, after);
  };
  form.addEventListener("input", (event) => soon(event.target.type === "search" ? 250 : 0));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    soon(0);
  });
}

// Keyboard shortcuts: single keys, not while typing, and only if they are on ------------------------------------------

const keys = one("#keys");
const keysOn = one("#keys-on");
try {
  keysOn.checked = localStorage.getItem("keys") !== "off";
} catch {
  // a browser that stores nothing: they are on
}
keysOn.addEventListener("change", () => {
  try {
    localStorage.setItem("keys", keysOn.checked ? "on" : "off");
  } catch {
    announce("This browser stores no choice; it counts for this page.");
  }
});
one("#show-keys").addEventListener("click", () => keys.showModal());
one("#hide-keys").addEventListener("click", () => keys.close());

// Focus a field of this page, or of the history.
function goTo(id) {
  const field = document.getElementById(id);
  if (!field) return location.assign(`/#${id}`);
  field.focus();
  field.select();
}

// Focus the next or previous entry of a list.
function move(by) {
  const links = all("[data-list] > li .what a, .past > li .what a");
  const here = links.findIndex((link) => link.closest("li").contains(document.activeElement));
  const next = links[here < 0 ? (by > 0 ? 0 : links.length - 1) : here + by];
  next?.focus();
  next?.closest("li").scrollIntoView({ block: "nearest" });
}

const arrows = one("[data-arrows]");
function follow(rel) {
  if (arrows) one(`[rel=${rel}]`, arrows)?.click();
}

const SHORTCUTS = {
  "/": () => goTo("q"),
  n: () => goTo("question"),
  j: () => move(1),
  k: () => move(-1),
  "?": () => keys.showModal(),
};
const ARROWS = { ArrowLeft: () => follow("prev"), ArrowRight: () => follow("next") };
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || keys.open) return;
  if (event.key === "Escape") menus.forEach((menu) => (menu.open = false));
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  const shortcut = keysOn.checked && SHORTCUTS[event.key];
  const arrow = !event.shiftKey && !event.target.closest("button, summary, .wide, .diff") && ARROWS[event.key];
  if (!shortcut && !arrow) return;
  if (shortcut) event.preventDefault();
  (shortcut || arrow)();
});
if (location.hash === "#q" || location.hash === "#question") one(location.hash)?.focus();

// Contents of a report: open where they stand beside the text, with the section that is read ---------------------------

const contents = one(".contents");
if (contents) {
  const beside = matchMedia("(min-width: 75rem)");
  const fold = () => (contents.open = beside.matches);
  beside.addEventListener("change", fold);
  fold();
  const links = new Map(all("a", contents).map((link) => [one(link.getAttribute("href")), link]));
  const seen = new IntersectionObserver(
    (changes) => {
      const read = changes.filter((change) => change.isIntersecting).at(-1);
      if (!read) return;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(read.target).setAttribute("aria-current", "location");
    },
    { rootMargin: "0px 0px -70% 0px" },
  );
  links.forEach((_, section) => section && seen.observe(section));
}

// Passages of a report: pointing and focus show one, a click pins it, Escape closes it ------------------------------

const panel = one("#panel");
if (panel) {
  const shown = one("#shown");
  const hint = [...shown.childNodes];
  let pinned = null;
  let soon = 0;
  const show = (sentence) => {
    clearTimeout(soon);
    const passage = one(sentence.getAttribute("href"));
    if (!passage || sentence.classList.contains("shown")) return;
    all(".sentence.shown").forEach((each) => each.classList.remove("shown"));
    sentence.classList.add("shown");
    shown.replaceChildren(...[...passage.children].map((each) => each.cloneNode(true)));
    panel.classList.add("open");
    panel.scrollTop = 0;
  };
  const close = () => {
    pinned = null;
    all(".sentence.shown").forEach((each) => each.classList.remove("shown"));
    shown.replaceChildren(...hint);
    panel.classList.remove("open");
  };
  for (const sentence of all(".sentence")) {
    sentence.addEventListener("pointerenter", (event) => {
      if (!pinned && event.pointerType === "mouse") soon = setTimeout(show, 80, sentence);
    });
    sentence.addEventListener("pointerleave", () => clearTimeout(soon));
    sentence.addEventListener("focus", () => show(sentence));
    sentence.addEventListener("click", (event) => {
      event.preventDefault();
      pinned = sentence;
      show(sentence);
      sentence.scrollIntoView({ block: "nearest" });
    });
  }
  one("#close").addEventListener("click", () => {
    one(".sentence.shown")?.focus({ preventScroll: true });
    close();
  });
  addEventListener("keydown", (event) => event.key === "Escape" && close());
  addEventListener("click", (event) => {
    if (!event.target.closest(".sentence, #panel")) pinned = null;
  });
}

// A running research -----------------------------------------------------------------------------------------------

const watched = one("#watch");
if (watched) {
  const stop = one("#stop");
  const step = one("#step");
  const done = one("#done");
  const source = new EventSource(watched.dataset.events);
  const cell = (words, kind = "td") => {
    const made = document.createElement(kind);
    made.textContent = words;
    if (kind === "th") made.scope = "row";
    return made;
  };
  const number = (value) => {
    const made = cell(value);
    made.className = "number";
    return made;
  };
  const showStep = (words) => (step.textContent = words);
  const end = (words) => {
    source.close();
    done.remove();
    stop?.remove();
    showStep(words);
  };
  source.addEventListener("step", (event) => {
    if (stop?.disabled) return; // keep the message about stopping
    const now = JSON.parse(event.data);
    showStep(now.total ? `${now.what}: ${now.done} of ${now.total}` : now.what);
    if (now.total) done.value = now.done / now.total;
    else done.removeAttribute("value");
  });
  source.addEventListener("round", (event) => {
    const round = JSON.parse(event.data);
    const row = document.createElement("tr");
    const queries = document.createElement("td");
    for (const query of round.queries) {
      const line = document.createElement("bdi");
      line.textContent = query;
      queries.append(...(queries.childNodes.length ? [document.createElement("br")] : []), line);
    }
    const counts = [round.results, round.pages, round.live_calls].map(number);
    const shares = [round.novelty, round.score].map((each) => number(each.toFixed(2)));
    row.append(cell(round.number, "th"), queries, ...counts, ...shares);
    one("#rounds").append(row);
  });
  source.addEventListener("ended", (event) => {
    end({ finished: "Done.", stopped: "Stopped.", failed: "Failed." }[JSON.parse(event.data).state]);
    reloadWhenServed(showStep); // the page of the run shows how it ended
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) reloadWhenServed(showStep);
    else showStep(ABSENT);
  });
  if (stop) {
    stop.hidden = false;
    stop.addEventListener("click", async () => {
      stop.disabled = true;
      showStep("Stopping at the next step …");
      await ask("DELETE", watched.dataset.stop).catch((error) => {
        stop.disabled = false;
        announce(error.message);
      });
    });
  }
}
