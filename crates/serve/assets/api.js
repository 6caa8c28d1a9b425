// Requests to the server. An error has the message of the server's problem details.

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server cannot be reached.");
  }
  if (response.status === 401) location.assign("/login");
  const body = await response.json().catch(() => ({}));
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

/** Calls a function whenever the parser of a run changes, or its next one is trained further. */
export function listen(run, changed) {
  const source = new EventSource(`/v1/events?${new URLSearchParams({ run })}`);
  source.addEventListener("message", (event) => changed(JSON.parse(event.data)));
  return source;
}
