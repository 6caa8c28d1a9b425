//! The datasets of text2sql-data: advising, atis, academic, geography (GeoQuery), imdb, restaurants, scholar and yelp.
//!
//! ```text
//! <name>.json       templates: SQL queries and sentences with variables, and the values of the variables of each sentence
//! <name>.sqlite     the database, if there is one
//! ```
//!
//! The first `sql` of a template is the gold query. Its texts are in double quotes, which SQLite takes for names of
//! columns first; they are replaced by single quotes. Aliases remain.
//!
//! There are two ways to split the data. By question, each sentence has its split, and the same query is in the training
//! and test data, asked in different words. By query, each template has its split, and the queries of the test data are
//! new. The smaller datasets have ten numbered folds instead of named splits, and one of them is the test data.

use crate::{DataError, LabeledQuestion, LineError, Split, json_list, text_file};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a dataset is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitBy {
    /// By question: the test data has queries of the training data in different words.
    #[default]
    Question,
    /// By query: the test data has no query of the training data.
    Query,
}

/// A dataset of text2sql-data.
#[derive(Clone, Debug)]
pub struct Text2Sql {
    name: String,
    path: PathBuf,
    database: Option<PathBuf>,
    templates: Vec<(usize, QueryTemplate)>,
}

#[derive(Clone, Debug, Deserialize)]
struct QueryTemplate {
    sql: Vec<String>,
    sentences: Vec<Sentence>,
    #[serde(default)]
    variables: Vec<Variable>,
    #[serde(rename = "query-split")]
    query_split: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Sentence {
    text: String,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    #[serde(rename = "question-split")]
    question_split: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Variable {
    name: String,
    /// The value in sentences that have none for it.
    #[serde(default)]
    example: String,
}

impl Text2Sql {
    /// Opens the dataset `name` in a folder, or in its subfolder `name` or `data`. Without a name, opens the only dataset in
    /// the folder.
    ///
    /// # Errors
    /// If there is no such dataset, if it is malformed, or if there are several and no name.
    pub fn open(folder: &Path, name: Option<&str>) -> Result<Self, DataError> {
        let path = match name {
            Some(name) => [folder.to_owned(), folder.join(name), folder.join("data")]
                .iter()
                .map(|folder| folder.join(format!("{name}.json")))
                .find(|path| path.is_file()),
            None => only_dataset(folder)?,
        };
        let Some(path) = path else {
            let message = format!(
                "there is no {}.json in it; the datasets are in the folder `data` of the public repository \
                 jkkummerfeld/text2sql-data",
                name.unwrap_or("<name>")
            );
            return Err(DataError::Folder { folder: folder.to_owned(), message });
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let templates = read_templates(&text_file::read(&path)?).map_err(DataError::in_file(&path))?;
        let database = ["sqlite", "db"]
            .map(|extension| path.with_extension(extension))
            .into_iter()
            .find(|db| db.is_file());
        Ok(Text2Sql { name, path, database, templates })
    }

    /// Returns the name of the dataset.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the database, if there is one.
    pub fn database(&self) -> Option<&Path> {
        self.database.as_deref()
    }

    /// Returns the questions with their gold queries, in the order of the file. If the dataset has numbered folds, `fold` is
    /// the test data. Questions that the dataset marks `exclude` are left out.
    ///
    /// # Errors
    /// If a template has no query, or if a split has an unknown name.
    pub fn labeled_questions(&self, split_by: SplitBy, fold: u32) -> Result<Vec<LabeledQuestion>, DataError> {
        let mut questions = Vec::new();
        for (line, template) in &self.templates {
            let error = |message: String| DataError::in_file(&self.path)(LineError { line: *line, message });
            let Some(gold) = template.sql.first() else {
                return Err(error("the template has no query: `sql` is empty".to_owned()));
            };
            for sentence in &template.sentences {
                let split = match split_by {
                    SplitBy::Question => sentence.question_split.as_str(),
                    SplitBy::Query => template.query_split.as_str(),
                };
                let split = match (Split::from_name(split), split.parse::<u32>()) {
                    (Some(split), _) => split,
                    (None, Ok(number)) if number == fold => Split::Test,
                    (None, Ok(_)) => Split::Train,
                    (None, Err(_)) if split == "exclude" => continue,
                    (None, Err(_)) => {
                        return Err(error(format!(
                            "there is no split `{split}`; expected train, dev, test, exclude or the number of a fold"
                        )));
                    }
                };
                let values = template.values(sentence);
                questions.push(LabeledQuestion {
                    utterance: fill(&sentence.text, &values),
                    program: fill_query(gold, &values),
                    answer: None,
                    split: Some(split),
                    database: None,
                    line: *line,
                });
            }
        }
        Ok(questions)
    }
}

impl QueryTemplate {
    /// Returns the values of the variables of a sentence. Longer names come first, because `name10` begins with `name1`.
    fn values<'a>(&'a self, sentence: &'a Sentence) -> Vec<(&'a str, &'a str)> {
        let examples =
            self.variables.iter().map(|variable| (variable.name.as_str(), variable.example.as_str()));
        let given = sentence.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut values: BTreeMap<&str, &str> = examples.collect();
        values.extend(given.filter(|(_, value)| !value.is_empty()));
        values.remove("");
        let mut values: Vec<(&str, &str)> = values.into_iter().collect();
        values.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        values
    }
}

/// Returns the dataset in a folder; `None` if there is none. It is an error if there are several.
fn only_dataset(folder: &Path) -> Result<Option<PathBuf>, DataError> {
    let unreadable = |source| DataError::File { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    if found.len() > 1 {
        let names: Vec<_> =
            found.iter().filter_map(|path| path.file_stem()).map(|stem| stem.to_string_lossy()).collect();
        let message = format!("there are several datasets; say which with --name: {}", names.join(", "));
        return Err(DataError::Folder { folder: folder.to_owned(), message });
    }
    Ok(found.pop())
}

fn read_templates(text: &str) -> Result<Vec<(usize, QueryTemplate)>, LineError> {
    let templates: Vec<(usize, QueryTemplate)> = json_list::read(text)?
        .into_iter()
        .map(|(line, value)| match serde_json::from_value(value) {
            Ok(template) => Ok((line, template)),
            Err(error) => {
                let message = format!("the template that begins here is not one of text2sql-data: {error}");
                Err(LineError { line, message })
            }
        })
        .collect::<Result<_, _>>()?;
    match templates.is_empty() {
        true => Err(LineError { line: 1, message: "there are no templates".to_owned() }),
        false => Ok(templates),
    }
}

/// Replaces the variables of a text by their values. Variables within values are not replaced.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                filled.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    filled
}

/// Replaces the variables of a query by their values, and all quotes by single quotes. Removes a final semicolon.
fn fill_query(query: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(query.len());
    let mut rest = query;
    while let Some(start) = rest.find(['"', '\'']) {
        filled.push_str(&fill(&rest[..start], values));
        let quote = &rest[start..=start];
        let (text, after) = quoted(&rest[start + 1..], quote);
        filled.push('\'');
        filled.push_str(&fill(&text, values).replace('\'', "''"));
        filled.push('\'');
        rest = after;
    }
    filled.push_str(&fill(rest, values));
    filled.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).to_owned()
}

/// Splits a text that begins within quotes into the quoted part and the rest. Two quotes in a row stand for one.
fn quoted<'a>(text: &'a str, quote: &str) -> (String, &'a str) {
    let mut content = String::new();
    let mut rest = text;
    loop {
        let Some((before, after)) = rest.split_once(quote) else {
            // Without a closing quote, the quoted part ends with the text.
            content.push_str(rest);
            return (content, "");
        };
        content.push_str(before);
        match after.strip_prefix(quote) {
            Some(further) => {
                content.push_str(quote);
                rest = further;
            }
            None => return (content, after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const SMALL: &str = r#"[
        {"query-split": "test", "sql": ["SELECT A.x FROM t AS A WHERE A.y = \"name1\" AND A.z > year0 ;", "SELECT 2"],
         "variables": [{"name": "year0", "example": "1999", "location": "sql-only", "type": "year"}],
         "sentences": [
            {"text": "name1 or name10", "question-split": "train", "variables": {"name1": "o'neill", "name10": "name1"}},
            {"text": "name1", "question-split": "dev", "variables": {"name1": "x", "year0": "2010"}},
            {"text": "left out", "question-split": "exclude", "variables": {}}]},
        {"query-split": "3", "sql": ["SELECT 1"], "variables": [],
         "sentences": [{"text": "one", "question-split": "3", "variables": {}}]}]"#;

    fn open(content: &str) -> Result<(tempfile::TempDir, Text2Sql), DataError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("small.json"), content).unwrap();
        fs::write(folder.path().join("small.sqlite"), "").unwrap();
        let dataset = Text2Sql::open(folder.path(), None)?;
        Ok((folder, dataset))
    }

    #[test]
    fn variables_are_filled_in_and_texts_get_single_quotes() {
        let (_folder, dataset) = open(SMALL).unwrap();
        let summaries = |split_by, fold| -> Vec<String> {
            let questions = dataset.labeled_questions(split_by, fold).unwrap();
            questions
                .iter()
                .map(|LabeledQuestion { line, split, utterance, program, .. }| {
                    format!("{line} {}: {utterance} | {program}", split.unwrap())
                })
                .collect()
        };
        assert_eq!(
            summaries(SplitBy::Question, 3),
            [
                "2 train: o'neill or name1 | SELECT A.x FROM t AS A WHERE A.y = 'o''neill' AND A.z > 1999",
                "2 dev: x | SELECT A.x FROM t AS A WHERE A.y = 'x' AND A.z > 2010",
                "8 test: one | SELECT 1",
            ]
        );
        let by_query = summaries(SplitBy::Query, 0);
        assert_eq!(by_query.len(), 4);
        assert!(by_query[0].starts_with("2 test") && by_query[3].starts_with("8 train"));
        assert_eq!(dataset.name(), "small");
        assert!(dataset.database().is_some());
    }

    #[test]
    fn quotes_become_single_quotes() {
        let cases = [
            ("a = \"b\"", "a = 'b'"),
            ("a = 'b' ;", "a = 'b'"),
            ("a = \"say \"\"b\"\"\" OR c = 'd''e'", "a = 'say \"b\"' OR c = 'd''e'"),
            ("a = \"it's", "a = 'it''s'"),
            ("a LIKE \"%é%\"", "a LIKE '%é%'"),
            ("", ""),
        ];
        for (query, expected) in cases {
            assert_eq!(fill_query(query, &[]), expected);
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        let message = |content: &str| match open(content) {
            Ok((_, dataset)) => dataset.labeled_questions(SplitBy::Question, 0).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        for (content, expected) in [
            ("[]", "small.json, line 1: there are no templates"),
            (
                "[\n{}]",
                "line 2: the template that begins here is not one of text2sql-data: missing field `sql`",
            ),
            (
                r#"[{"query-split": "a", "sql": [], "sentences": []}]"#,
                "line 1: the template has no query: `sql` is empty",
            ),
            (
                r#"[{"query-split": "a", "sql": ["x"], "sentences": [{"text": "a", "question-split": "b"}]}]"#,
                "line 1: there is no split `b`; expected train, dev, test, exclude or the number of a fold",
            ),
        ] {
            let found = message(content);
            assert!(found.ends_with(expected), "{found}");
        }

        let folder = tempfile::tempdir().unwrap();
        let error = Text2Sql::open(folder.path(), Some("geography")).unwrap_err().to_string();
        assert!(error.contains("there is no geography.json in it"), "{error}");
        for name in ["a.json", "b.json"] {
            fs::write(folder.path().join(name), "[]").unwrap();
        }
        let error = Text2Sql::open(folder.path(), None).unwrap_err().to_string();
        assert!(error.ends_with("there are several datasets; say which with --name: a, b"), "{error}");
    }
}
