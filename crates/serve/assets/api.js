// Requests to the server. An error has the message of the server's problem details.

/** Keeps integers that a double cannot have as they were sent, such as identifiers of 64 bits. */
function exact(key, value, context) {
  const isRounded = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(context?.source) ? BigInt(context.source) : value;
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server cannot be reached.");
  }
  if (response.status === 401) location.assign(`/login?${new URLSearchParams({ to: location.pathname + location.search + location.hash })}`);
  const body = await response.text().then((text) => JSON.parse(text, exact)).catch(() => ({}));
  if (!response.ok) {
    const detail = body.detail ? `${body.detail[0].toUpperCase()}${body.detail.slice(1)}.` : "The server failed.";
    throw Object.assign(new Error(detail), { status: response.status });
  }
  return body;
}

export function get(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return send(`${path}?${new URLSearchParams(given)}`, { headers: { Accept: "application/json" } });
}

export function post(path, body) {
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  return send(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/**
 * Calls a function whenever the parser of a run changes, or its next one is trained further. A page that nobody sees does not listen: a
 * browser has six connections to a server for all of its pages, and the seventh page would wait for one.
 */
export function listen(run, changed) {
  let source;
  const update = () => {
    source?.close();
    source = undefined;
    if (document.visibilityState !== "visible") return;
    source = new EventSource(`/v1/events?${new URLSearchParams({ run })}`);
    source.addEventListener("message", (event) => changed(JSON.parse(event.data)));
  };
  document.addEventListener("visibilitychange", update);
  update();
}
