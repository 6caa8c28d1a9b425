//! The lexicon of a domain, from SEMPRE's grammar files.
//!
//! Of all their rules only the constant ones matter here, `(rule $Cat (words …) (ConstantFn symbol))`: they
//! say what people call a property, a type or a value. `(for @x (a b) …)` repeats its rules with each
//! of the words for `@x`; what stands under `(when …)` counts whatever the condition.

use crate::LineError;

/// What people call something that programs name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LexiconEntry {
    /// The grammar's category, such as `$RelNP`.
    pub category: String,
    /// How people say it.
    pub phrase: String,
    /// How programs write it.
    pub symbol: String,
}

/// A word or a list of trees, and the line it begins in.
struct Tree {
    line: usize,
    content: Content,
}

enum Content {
    Word(String),
    List(Vec<Tree>),
}

/// How deep a grammar file may nest; SEMPRE's nest fewer than twenty deep.
const MAX_DEPTH: usize = 100;

/// Reads the constant rules of a grammar file.
///
/// # Errors
/// If brackets or quotes do not match, or a constant rule is not of the form above.
pub fn read_lexicon(text: &str) -> Result<Vec<LexiconEntry>, LineError> {
    let trees = read_trees(text)?;
    let mut entries = Vec::new();
    collect(&trees, &[], &mut entries)?;
    Ok(entries)
}

/// Gathers the constant rules below some trees, with words for the variables of `for`.
fn collect(trees: &[Tree], bound: &[(&str, &str)], entries: &mut Vec<LexiconEntry>) -> Result<(), LineError> {
    for tree in trees {
        let Content::List(parts) = &tree.content else { continue };
        match (word(parts.first()), &parts[..]) {
            (Some("rule"), [_, category, words, function, ..]) => {
                let Content::List(function) = &function.content else { continue };
                if word(function.first()) != Some("ConstantFn") {
                    continue;
                }
                let (Some(category), Content::List(words), Some(symbol)) =
                    (word(Some(category)), &words.content, function.get(1))
                else {
                    let message =
                        "a constant rule reads (rule $Category (words …) (ConstantFn symbol))".into();
                    return Err(LineError { line: tree.line, message });
                };
                let mut text = String::new();
                write(&mut text, symbol, bound);
                entries.push(LexiconEntry {
                    category: category.to_owned(),
                    phrase: phrase(words),
                    symbol: text,
                });
            }
            (Some("for"), [_, variable, values, body @ ..]) => {
                let (Some(variable), Content::List(values)) = (word(Some(variable)), &values.content) else {
                    let message = "a repeated rule reads (for @variable (words …) rules…)".into();
                    return Err(LineError { line: tree.line, message });
                };
                for value in values.iter().filter_map(|value| word(Some(value))) {
                    let bound: Vec<_> = bound.iter().copied().chain([(variable, value)]).collect();
                    collect(body, &bound, entries)?;
                }
            }
            (Some("when"), [_, _, body @ ..]) => collect(body, bound, entries)?,
            _ => {}
        }
    }
    Ok(())
}

fn word(tree: Option<&Tree>) -> Option<&str> {
    match &tree?.content {
        Content::Word(word) => Some(word),
        Content::List(_) => None,
    }
}

/// The words of a rule; what stands in brackets is a note to the reader, not said.
fn phrase(words: &[Tree]) -> String {
    let said: Vec<&str> =
        words.iter().filter_map(|tree| word(Some(tree))).filter(|word| !word.starts_with('(')).collect();
    said.join(" ")
}

fn write(out: &mut String, tree: &Tree, bound: &[(&str, &str)]) {
    match &tree.content {
        Content::Word(word) => {
            let value = bound.iter().rev().find(|(variable, _)| variable == word);
            out.push_str(value.map_or(word, |(_, value)| value));
        }
        Content::List(parts) => {
            out.push('(');
            for part in parts {
                out.push(' ');
                write(out, part, bound);
            }
            out.push_str(" )");
        }
    }
}

fn read_trees(text: &str) -> Result<Vec<Tree>, LineError> {
    let mut open: Vec<Tree> = Vec::new();
    let mut top = Vec::new();
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            _ if c.is_whitespace() => {}
            '#' => while chars.next_if(|&c| c != '\n').is_some() {},
            '(' if open.len() == MAX_DEPTH => {
                return Err(LineError { line, message: format!("brackets nest more than {MAX_DEPTH} deep") });
            }
            '(' => open.push(Tree { line, content: Content::List(vec![]) }),
            ')' => match open.pop() {
                Some(tree) => add(&mut open, &mut top, tree),
                None => return Err(LineError { line, message: "`)` without a `(`".into() }),
            },
            '"' => {
                let start = line;
                let mut word = String::new();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => word.extend(chars.next()),
                        Some(c) => {
                            line += usize::from(c == '\n');
                            word.push(c);
                        }
                        None => return Err(LineError { line: start, message: "no closing quote".into() }),
                    }
                }
                add(&mut open, &mut top, Tree { line: start, content: Content::Word(word) });
            }
            _ => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|&c| !c.is_whitespace() && !matches!(c, '(' | ')')) {
                    word.push(c);
                }
                add(&mut open, &mut top, Tree { line, content: Content::Word(word) });
            }
        }
    }
    match open.pop() {
        Some(tree) => Err(LineError { line: tree.line, message: "no `)` for this `(`".into() }),
        None => Ok(top),
    }
}

fn add(open: &mut [Tree], top: &mut Vec<Tree>, tree: Tree) {
    match open.last_mut() {
        Some(Tree { content: Content::List(parts), .. }) => parts.push(tree),
        _ => top.push(tree),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        read_lexicon(text).unwrap().into_iter().map(|entry| (entry.phrase, entry.symbol)).collect()
    }

    #[test]
    fn constant_rules_are_read_and_others_passed_over() {
        let text = r#"
            (include general.grammar)   # comment (unbalanced
            (rule $TypeNP (meeting) (ConstantFn en.meeting))
            (rule $CP (that $VP) (lambda r (var r)))
            (when generate (rule $Num (two) (ConstantFn (number 2))))
            (for @x (point assist)
              (rule $EntityNP1 (3) (ConstantFn (number 3 @x))))
            (rule $RelNP (number of points "(over a season)") (ConstantFn (string num_points)))
        "#;
        let expected = [
            ("meeting", "en.meeting"),
            ("two", "( number 2 )"),
            ("3", "( number 3 point )"),
            ("3", "( number 3 assist )"),
            ("number of points", "( string num_points )"),
        ];
        assert_eq!(read(text), expected.map(|(phrase, symbol)| (phrase.to_owned(), symbol.to_owned())));
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("(rule $A (b)\n\n(ConstantFn c", "line 3: no `)` for this `(`"),
            ("(a)\n)", "line 2: `)` without a `(`"),
            ("(a)\n(b \"c)", "line 2: no closing quote"),
            (
                "\n(rule $A b (ConstantFn c))",
                "line 2: a constant rule reads (rule $Category (words …) (ConstantFn symbol))",
            ),
            ("(for x y)", "line 1: a repeated rule reads (for @variable (words …) rules…)"),
        ];
        for (text, expected) in cases {
            assert_eq!(read_lexicon(text).unwrap_err().to_string(), expected);
        }
        let deep = "(".repeat(1_000_000);
        assert_eq!(read_lexicon(&deep).unwrap_err().to_string(), "line 1: brackets nest more than 100 deep");
    }
}
