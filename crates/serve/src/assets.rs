//! The styles and scripts of the page, which are in the binary.

use crate::problem::Problem;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::OnceLock;
use xpr_run::fingerprint_bytes;

/// A file of the page.
struct Asset {
    name: &'static str,
    content: &'static str,
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        [$(Asset { name: $name, content: include_str!(concat!("../assets/", $name)) }),*]
    };
}

static ASSETS: [Asset; 11] = assets![
    "style.css",
    "icon.svg",
    "ask.js",
    "answer.js",
    "api.js",
    "dom.js",
    "history.js",
    "label.js",
    "progress.js",
    "schema.js",
    "table.js",
];

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    }
}

/// Returns the fingerprint of all files. They change together, and a browser asks whether they did.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let all: String = ASSETS.iter().map(|asset| asset.content).collect();
        format!("\"{}\"", fingerprint_bytes(all.as_bytes()))
    })
}

/// Returns a file of the page.
pub(crate) async fn asset(headers: HeaderMap, Path(name): Path<String>) -> Response {
    find(&headers, &name)
}

/// Returns the icon.
pub(crate) async fn icon(headers: HeaderMap) -> Response {
    find(&headers, "icon.svg")
}

fn find(headers: &HeaderMap, name: &str) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return Problem::not_found("there is no such file").into_response();
    };
    let version = version();
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == version);
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => asset.content.into_response(),
    };
    let own = response.headers_mut();
    own.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(version) = HeaderValue::from_str(version) {
        own.insert(header::ETAG, version);
    }
    response
}
