//! Texts of questions, cells and programs in a page.

use maud::{Markup, html};
use xpr_text::{character_code, is_deceptive};

/// Returns a text in which characters that reverse or hide others are shown by their codes, as the script `dom.js` does it. They are still
/// there when the text is copied.
pub(super) fn visible(text: &str) -> Markup {
    let parts = text.split_inclusive(is_deceptive).map(|part| {
        let last = part.chars().next_back().filter(|c| is_deceptive(*c));
        (&part[..part.len() - last.map_or(0, char::len_utf8)], last)
    });
    html! {
        @for (part, last) in parts {
            (part)
            @if let Some(c) = last { span.code-point data-code=(character_code(c)) { (c) } }
        }
    }
}
