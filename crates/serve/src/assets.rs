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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The colours of text, and what each is on.
    const PAIRS: [(&str, &[&str]); 12] = [
        ("text", &["page", "card", "sunken"]),
        ("soft", &["page", "card", "sunken"]),
        ("accent", &["page", "card", "sunken"]),
        ("accent-strong", &["accent-soft", "page"]),
        ("on-accent", &["accent", "accent-strong"]),
        ("warn", &["warn-soft"]),
        ("good", &["good-soft"]),
        ("bad", &["bad-soft"]),
        ("keyword", &["sunken"]),
        ("string", &["sunken"]),
        ("numeral", &["sunken"]),
        ("page", &["text"]),
    ];

    fn colours(style: &str) -> HashMap<&str, [f64; 3]> {
        let declared = style.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(": #"));
        let channel = |digits: &str| f64::from(u8::from_str_radix(digits, 16).unwrap()) / 255.0;
        declared
            .map(|(name, value)| {
                let value = value.trim_end_matches(';');
                (name, [channel(&value[0..2]), channel(&value[2..4]), channel(&value[4..6])])
            })
            .collect()
    }

    /// The relative luminance of WCAG 2.
    fn luminance(colour: [f64; 3]) -> f64 {
        let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let [red, green, blue] = colour.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn text_has_enough_contrast_in_both_colour_schemes() {
        let style = ASSETS[0].content;
        let (light, dark) = style.split_once("@media (prefers-color-scheme: dark)").unwrap();
        let dark = dark.split_once("*, *::before").unwrap().0;
        for scheme in [light, dark] {
            let colours = colours(scheme);
            for (text, grounds) in PAIRS {
                for ground in grounds {
                    let (one, other) = (luminance(colours[text]), luminance(colours[ground]));
                    let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                    assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
                }
            }
        }
    }

    #[test]
    fn scripts_make_no_markup_and_load_nothing_from_elsewhere() {
        for asset in &ASSETS {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "https://",
                "@import",
            ] {
                assert!(!asset.content.contains(forbidden), "{} has {forbidden}", asset.name);
            }
        }
    }
}
