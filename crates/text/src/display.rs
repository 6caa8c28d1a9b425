//! Characters that are not what a reader sees.

/// Returns whether a character changes how others are shown, or is not seen itself: a control character, a control of direction, an
/// invisible character, or a separator that few programs know. Line ends and tabs are none of these.
///
/// A query with such a character can look like another one than the one that runs.
pub fn is_deceptive(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// Returns the code of a character as it is shown in its place, in the way of JSON: `\u202e`.
pub fn character_code(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_hide_or_reverse_others_have_codes() {
        for (c, code) in [
            ('\u{1b}', "\\u001b"),
            ('\u{202e}', "\\u202e"),
            ('\u{feff}', "\\ufeff"),
            ('\u{e0041}', "\\udb40\\udc41"),
        ] {
            assert!(is_deceptive(c));
            assert_eq!(character_code(c), code);
        }
        assert!(!"plain text,\n\tand 誰 é 👩\u{200d}👧".contains(is_deceptive));
    }
}
