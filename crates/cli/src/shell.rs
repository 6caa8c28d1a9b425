//! Words of commands that people paste into a shell.

use std::path::Path;

/// Returns a word as it is written in a shell, quoted if it must be. Nothing in it is run or replaced, whatever it is.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "._-=,/:+".contains(c));
    if is_plain {
        word.to_owned()
    } else if word.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", word.replace('\'', "'\\''"))
    } else {
        format!("\"{word}\"")
    }
}

/// Returns a path as it is written in a shell.
pub(crate) fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Issue 18: a question with the name of a table was a command when it was pasted.
    #[test]
    fn words_are_quoted_so_that_a_shell_takes_them_as_they_are() {
        for (word, expected) in [
            ("data.fraction=0.3", "data.fraction=0.3"),
            ("model.without=[\"parents\"]", "'model.without=[\"parents\"]'"),
            ("data.labeled=it's.tsv", "\"data.labeled=it's.tsv\""),
            ("how many $(touch x) are there", "'how many $(touch x) are there'"),
            ("a `b` it's", "'a `b` it'\\''s'"),
            ("a;b", "\"a;b\""),
            ("", "\"\""),
        ] {
            assert_eq!(quoted(word), expected);
        }
        for word in
            ["$(touch x)", "`id`", "it's \"$HOME\"", "a;b|c&d>e", "\\", "~", "*", "a\nb", "#", "{a,b}"]
        {
            let script = format!("printf %s {}", quoted(word));
            let echoed = Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
            assert_eq!(String::from_utf8_lossy(&echoed.stdout), word);
        }
    }
}
