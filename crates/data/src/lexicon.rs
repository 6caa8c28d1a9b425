//! The lexicon of a domain, from the grammar files of SEMPRE.
//!
//! Only constant rules are read: `(rule $Category (words …) (ConstantFn symbol))` has a phrase for a property, a type or a
//! value. `(for @x (a b) …)` repeats its rules with each of the words in place of `@x`. Rules within `(when …)` are read
//! whatever the condition.

use crate::LineError;

/// A phrase for a symbol of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LexiconEntry {
    /// The category of the grammar, such as `$RelNP`.
    pub category: String,
    /// The phrase.
    pub phrase: String,
    /// The symbol, as programs write it.
    pub symbol: String,
}

/// A word or a list of trees, with the line in which it begins.
struct Tree {
    line: usize,
    content: TreeContent,
}

enum TreeContent {
    Word(String),
    List(Vec<Tree>),
}

/// The maximum nesting depth of a grammar file. SEMPRE's have less than twenty.
const MAX_DEPTH: usize = 100;

/// Reads the constant rules of a grammar file.
///
/// # Errors
/// If parentheses or quotes do not match, or if a constant rule is malformed.
pub fn read_lexicon(text: &str) -> Result<Vec<LexiconEntry>, LineError> {
    let trees = read_trees(text)?;
    let mut entries = Vec::new();
    collect(&trees, &[], &mut entries)?;
    Ok(entries)
}

/// Adds the constant rules in some trees. `bound` has the words for the variables of enclosing `for`s.
fn collect(trees: &[Tree], bound: &[(&str, &str)], entries: &mut Vec<LexiconEntry>) -> Result<(), LineError> {
    for tree in trees {
        let TreeContent::List(parts) = &tree.content else { continue };
        match (word(parts.first()), &parts[..]) {
            (Some("rule"), [_, category, words, function, ..]) => {
                let TreeContent::List(function) = &function.content else { continue };
                if word(function.first()) != Some("ConstantFn") {
                    continue;
                }
                let (Some(category), TreeContent::List(words), Some(symbol)) =
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
                let (Some(variable), TreeContent::List(values)) = (word(Some(variable)), &values.content)
                else {
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

/// Returns the word that a tree is; `None` for a list.
fn word(tree: Option<&Tree>) -> Option<&str> {
    match &tree?.content {
        TreeContent::Word(word) => Some(word),
        TreeContent::List(_) => None,
    }
}

/// Returns the words of a rule. A word in parentheses is a comment for annotators and not part of the phrase.
fn phrase(words: &[Tree]) -> String {
    let words: Vec<&str> =
        words.iter().filter_map(|tree| word(Some(tree))).filter(|word| !word.starts_with('(')).collect();
    words.join(" ")
}

/// Appends the text of a tree, with the words for bound variables.
fn write(out: &mut String, tree: &Tree, bound: &[(&str, &str)]) {
    match &tree.content {
        TreeContent::Word(word) => {
            let value = bound.iter().rev().find(|(variable, _)| variable == word);
            out.push_str(value.map_or(word, |(_, value)| value));
        }
        TreeContent::List(parts) => {
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
                return Err(LineError {
                    line,
                    message: format!("parentheses nest more than {MAX_DEPTH} deep"),
                });
            }
            '(' => open.push(Tree { line, content: TreeContent::List(vec![]) }),
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
                add(&mut open, &mut top, Tree { line: start, content: TreeContent::Word(word) });
            }
            _ => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|&c| !c.is_whitespace() && !matches!(c, '(' | ')')) {
                    word.push(c);
                }
                add(&mut open, &mut top, Tree { line, content: TreeContent::Word(word) });
            }
        }
    }
    match open.pop() {
        Some(tree) => Err(LineError { line: tree.line, message: "no `)` for this `(`".into() }),
        None => Ok(top),
    }
}

/// Adds a tree to the innermost open list, or to the top level.
fn add(open: &mut [Tree], top: &mut Vec<Tree>, tree: Tree) {
    match open.last_mut() {
        Some(Tree { content: TreeContent::List(parts), .. }) => parts.push(tree),
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
    fn constant_rules_are_read_and_others_ignored() {
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
        assert_eq!(
            read_lexicon(&deep).unwrap_err().to_string(),
            "line 1: parentheses nest more than 100 deep"
        );
    }
}
