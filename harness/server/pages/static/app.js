"use strict";
// What a page does beyond what its HTML can: search as one types, show passages, watch a research, ask before deleting.
document.documentElement.classList.add("scripted");
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const ABSENT = "The server does not answer. What it has kept is not lost; this page waits for it …";

function say(words) {
  one("#said").textContent = words;
}

async function ask(method, address, body) {
  const headers = { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) };
  const response = await fetch(address, { method, headers, body }).catch(() => {
    throw new Error("The server does not answer. Is it still running?");
  });
  const told = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(told.message || `The server answered ${response.status}.`);
  return told;
}

// A page is loaded anew only from a server that answers: a browser's own error page would not come back.
async function reloadOnceServed(tell) {
  try {
    await fetch("/healthz");
    location.reload();
  } catch {
    tell(ABSENT);
    setTimeout(reloadOnceServed, 1000, tell);
  }
}

// Buttons that ask the API, forms that ask for work ------------------------------------------------------------------

for (const button of all("button[data-address]")) {
  button.addEventListener("click", async () => {
    const { method, address, body, then } = button.dataset;
    if (button.dataset.confirm && !confirm(button.dataset.confirm)) return;
    say("");
    button.disabled = true;
    try {
      const told = await ask(method, address, body);
      if (then === "reload") location.reload();
      else location.assign(then === "page" ? told.page : then);
    } catch (error) {
      say(error.message);
      button.disabled = false;
    }
  });
}

const engine = one("#engine");
engine?.addEventListener("change", () => {
  one("#question").placeholder = engine.selectedOptions[0].dataset.question;
});

const asking = all('form[method="post"] button');
addEventListener("submit", (event) => {
  // once it is sent: a second click would begin a second research
  if (event.target.method === "post") setTimeout(() => all("button", event.target).forEach((each) => (each.disabled = true)));
});
addEventListener("pageshow", () => asking.forEach((each) => (each.disabled = false)));

// Search as one types ------------------------------------------------------------------------------------------------

for (const form of all("form[data-live]")) {
  const list = one(form.dataset.live);
  let waiting = 0;
  let latest = null;
  const search = async () => {
    latest?.abort();
    latest = new AbortController();
    const asked = new URLSearchParams(new FormData(form));
    list.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(`/?part=1&${asked}`, { signal: latest.signal });
      if (response.redirected) return location.assign("/login"); // the token is not valid any more
      if (!response.headers.get("Content-Type")?.startsWith("text/html")) throw new Error((await response.json()).message);
      list.innerHTML = await response.text(); // made by the server's templates, which escape every text
      history.replaceState(null, "", `/?${asked}`);
      const found = all(".past > li", list).length;
      one("#found").textContent = found ? `${found}${one("[rel=next]", list) ? " or more" : ""} found` : list.textContent.trim();
      say("");
    } catch (error) {
      if (error.name === "AbortError") return;
      say(`This could not be searched for: ${error.message}`);
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

// Passages of a report: pointing and focus show them, a click holds one, Escape lets go ------------------------------

const panel = one("#panel");
if (panel) {
  const shown = one("#shown");
  const hint = [...shown.childNodes];
  let held = null;
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
    held = null;
    all(".sentence.shown").forEach((each) => each.classList.remove("shown"));
    shown.replaceChildren(...hint);
    panel.classList.remove("open");
  };
  for (const sentence of all(".sentence")) {
    sentence.addEventListener("pointerenter", (event) => {
      if (!held && event.pointerType === "mouse") soon = setTimeout(show, 80, sentence);
    });
    sentence.addEventListener("pointerleave", () => clearTimeout(soon));
    sentence.addEventListener("focus", () => show(sentence));
    sentence.addEventListener("click", (event) => {
      event.preventDefault();
      held = sentence;
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
    if (!event.target.closest(".sentence, #panel")) held = null;
  });
}

// A research under way -----------------------------------------------------------------------------------------------

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
  const tell = (words) => (step.textContent = words);
  const end = (words) => {
    source.close();
    done.remove();
    stop?.remove();
    tell(words);
  };
  source.addEventListener("step", (event) => {
    if (stop?.disabled) return; // what it says of stopping stays
    const told = JSON.parse(event.data);
    tell(told.total ? `${told.what}: ${told.done} of ${told.total}` : told.what);
    if (told.total) done.value = told.done / told.total;
    else done.removeAttribute("value");
  });
  source.addEventListener("round", (event) => {
    const told = JSON.parse(event.data);
    const row = document.createElement("tr");
    const queries = document.createElement("td");
    for (const query of told.queries) {
      const line = document.createElement("bdi");
      line.textContent = query;
      queries.append(...(queries.childNodes.length ? [document.createElement("br")] : []), line);
    }
    const counts = [told.results, told.pages, told.live_calls].map(number);
    const shares = [told.novelty, told.score].map((each) => number(each.toFixed(2)));
    row.append(cell(told.number, "th"), queries, ...counts, ...shares);
    one("#rounds").append(row);
  });
  source.addEventListener("ended", (event) => {
    end({ finished: "Done.", stopped: "Stopped.", failed: "It failed." }[JSON.parse(event.data).state]);
    reloadOnceServed(tell); // the page of the run shows how it ended
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) reloadOnceServed(tell);
    else tell(ABSENT);
  });
  if (stop) {
    stop.hidden = false;
    stop.addEventListener("click", async () => {
      stop.disabled = true;
      tell("Stopping at the next step …");
      await ask("DELETE", watched.dataset.stop).catch((error) => {
        stop.disabled = false;
        say(error.message);
      });
    });
  }
}
