//! Mentions: the literals that a question says.
//!
//! A program that does not use a number or a name of its question is rarely right, and neither is one with a constant that
//! nobody said. Linking knows both: a literal is said if its whole phrase is in the question.

use crate::Question;
use serde::{Deserialize, Serialize};
use xpr_lang::{Action, Grammar, ItemId, LiteralClass, Program, Sense, TypeId};
use xpr_text::is_common_stem;

/// The largest number of mentions: each is a bit.
const MOST_MENTIONS: usize = 32;

/// The literals that a question says, and those that it does not.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// The class of what each span of words may mean. A span inside a longer one is not listed.
    classes: Vec<LiteralClass>,
    /// For each item, the spans that it has words of, as bits.
    used_by: Vec<u32>,
    /// For each item, whether it is a literal that the question does not say.
    unsaid: Vec<bool>,
}

/// How a program differs from the literals that its question says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MentionCounts {
    /// The mentions of numbers that the program does not use.
    pub unused_numbers: usize,
    /// The mentions of texts that the program does not use.
    pub unused_texts: usize,
    /// The literals of the program that the question does not say.
    pub unsaid: usize,
}

/// What a program loses in logarithms of probabilities for each difference from its question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MentionPenalties {
    /// For a number that it does not use.
    pub unused_number: f32,
    /// For a text that it does not use.
    pub unused_text: f32,
    /// For a literal that the question does not say.
    pub unsaid: f32,
}

impl MentionPenalties {
    /// Returns the sum of the penalties.
    pub fn of(&self, counts: MentionCounts) -> f32 {
        self.unused_number * counts.unused_numbers as f32
            + self.unused_text * counts.unused_texts as f32
            + self.unsaid * counts.unsaid as f32
    }
}

impl Mentions {
    /// Returns the mentions of a question. There are none if its items are those of every question.
    pub fn new(question: &Question) -> Self {
        let Some(environment) = question.environment() else { return Mentions::default() };
        let items = || (0..question.grammar().item_count() as u32).map(ItemId);
        let words = question.word_count();
        let mut spans: Vec<(usize, usize, LiteralClass)> = Vec::new();
        let mut unsaid = Vec::new();
        for item in items() {
            let class = environment.literal_class(item);
            let before = spans.len();
            let mut start = 0;
            while let (Some(class), true) = (class, start < words) {
                let end = (start..words).find(|&word| !question.says(word, item)).unwrap_or(words);
                let is_common = question.stems()[start..end].iter().all(|stem| is_common_stem(stem));
                if !is_common {
                    spans.push((start, end, class));
                }
                start = end + 1;
            }
            unsaid.push(class.is_some() && spans.len() == before && !question.is_own_item(item));
        }
        let is_inside = |inner: &(usize, usize, LiteralClass), outer: &(usize, usize, LiteralClass)| {
            let is_longer = outer.1 - outer.0 > inner.1 - inner.0;
            is_longer && outer.0 <= inner.0 && inner.1 <= outer.1
        };
        let mut longest: Vec<(usize, usize, LiteralClass)> = Vec::new();
        for span in &spans {
            let is_known = longest.iter().any(|known| (known.0, known.1) == (span.0, span.1));
            if !is_known && !spans.iter().any(|other| is_inside(span, other)) {
                longest.push(*span);
            }
        }
        longest.truncate(MOST_MENTIONS);
        let used_by = |item: ItemId| {
            let is_name = environment.literal_class(item).is_none();
            let uses = |&(start, end, _): &(usize, usize, LiteralClass)| {
                // A single word may be what a column is called in part: the state in "the states where they were born".
                (start..end).any(|word| question.says(word, item))
                    || is_name && end == start + 1 && question.is_in_phrase(start, item)
            };
            let bits = longest.iter().enumerate().filter(|(_, span)| uses(span));
            bits.fold(0, |bits, (index, _)| bits | 1 << index)
        };
        Mentions {
            used_by: items().map(used_by).collect(),
            classes: longest.iter().map(|span| span.2).collect(),
            unsaid,
        }
    }

    /// Returns whether no program differs from the question.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && !self.unsaid.contains(&true)
    }

    /// Compares a program with the question.
    pub fn compare(&self, program: &Program) -> MentionCounts {
        let named = program.actions().iter().filter_map(|action| match action {
            Action::Item(item) => Some(*item),
            Action::Rule(_) => None,
        });
        let (used, unsaid) = self.uses(named);
        self.counts(used, unsaid, |_| true)
    }

    /// Returns the mentions that items use, as bits, and the number of items that the question does not say.
    fn uses(&self, named: impl Iterator<Item = ItemId>) -> (u32, usize) {
        named.fold((0, 0), |(used, unsaid), item| {
            let of_item = self.used_by.get(item.index()).copied().unwrap_or(0);
            (used | of_item, unsaid + usize::from(self.unsaid.get(item.index()) == Some(&true)))
        })
    }

    fn counts(&self, used: u32, unsaid: usize, is_counted: impl Fn(LiteralClass) -> bool) -> MentionCounts {
        let unused = |class: LiteralClass| {
            let classes =
                self.classes.iter().enumerate().filter(|(_, of)| **of == class && is_counted(class));
            classes.filter(|(index, _)| used >> index & 1 == 0).count()
        };
        MentionCounts {
            unused_numbers: unused(LiteralClass::Number),
            unused_texts: unused(LiteralClass::Text),
            unsaid,
        }
    }
}

/// The penalties of a partial program, by its next action. A mention that the rest of the program may use costs nothing yet.
pub(crate) struct NextPenalty<'a> {
    mentions: &'a Mentions,
    penalties: MentionPenalties,
    used: u32,
    unsaid: usize,
    /// Whether the arguments after the next one may name a number, and a text.
    rest_may_name: [bool; 2],
    language: (Option<&'a dyn Sense>, &'a Grammar),
}

const CLASSES: [LiteralClass; 2] = [LiteralClass::Number, LiteralClass::Text];

impl<'a> NextPenalty<'a> {
    /// `named` are the items of the partial program, and `open` the types of its open arguments, the next one last.
    pub(crate) fn new(
        (mentions, penalties): (&'a Mentions, MentionPenalties),
        named: &[ItemId],
        open: &[TypeId],
        language: (Option<&'a dyn Sense>, &'a Grammar),
    ) -> Self {
        let (used, unsaid) = mentions.uses(named.iter().copied());
        let rest = open.split_last().map_or(&[][..], |(_, rest)| rest);
        let rest_may_name = CLASSES.map(|class| some_may_name(language.0, rest, class));
        NextPenalty { mentions, penalties, used, unsaid, rest_may_name, language }
    }

    /// Returns the penalties of the program with one more action.
    pub(crate) fn with(&self, action: Action) -> f32 {
        let (sense, grammar) = self.language;
        let (used, unsaid, arguments) = match action {
            Action::Item(item) => {
                let (used, unsaid) = self.mentions.uses([item].into_iter());
                (self.used | used, self.unsaid + unsaid, &[][..])
            }
            Action::Rule(_) => (self.used, self.unsaid, grammar.arguments(action)),
        };
        let may_name = |class: LiteralClass| {
            self.rest_may_name[usize::from(class == LiteralClass::Text)]
                || some_may_name(sense, arguments, class)
        };
        self.penalties.of(self.mentions.counts(used, unsaid, |class| !may_name(class)))
    }
}

fn some_may_name(sense: Option<&dyn Sense>, parts: &[TypeId], class: LiteralClass) -> bool {
    parts.iter().any(|&part| sense.is_none_or(|sense| sense.may_name(part, class)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_worlds::cities_and_states;
    use crate::{Scene, Surroundings, Vocabulary};
    use xpr_lang::sql::{Literal, SearchFacts, Sql, SqlEnvironment, SuggestedValue};
    use xpr_lang::{Environment, Language};

    struct Asked {
        language: Sql,
        environment: SqlEnvironment,
        question: Question,
    }

    impl Asked {
        /// Asks about cities, with values that were found in the question and constants of labels.
        fn new(utterance: &str, values: &[SuggestedValue], constants: &[SuggestedValue]) -> Self {
            let language = cities_and_states();
            let fixed = SqlEnvironment::new(&language)
                .with_sense(&language, &SearchFacts::default())
                .with_constants(&language, constants);
            let environment = fixed.with_values(&language, values);
            let grammar = language.signatures().grammar(environment.items()).unwrap();
            let base = language.signatures().grammar(fixed.items()).unwrap();
            let vocabulary = Vocabulary::new([]);
            let scene = Scene::new(base, &fixed, &vocabulary);
            let shared = (0..fixed.items().len() as u32).collect();
            let surroundings = Surroundings { environment: Box::new(environment.clone()), grammar, shared };
            let question = scene.question_in(utterance, &vocabulary, surroundings);
            Asked { language, environment, question }
        }

        fn program(&self, sql: &str) -> Program {
            self.language.read(sql, self.question.grammar(), &self.environment).unwrap()
        }

        /// Returns the unused numbers, unused texts and unsaid literals of a query.
        fn compare(&self, sql: &str) -> [usize; 3] {
            let counts = Mentions::new(&self.question).compare(&self.program(sql));
            [counts.unused_numbers, counts.unused_texts, counts.unsaid]
        }
    }

    fn text(text: &str) -> SuggestedValue {
        SuggestedValue::new(Literal::text(text), text)
    }

    fn number(number: i64) -> SuggestedValue {
        SuggestedValue::new(Literal::integer(number), number.to_string())
    }

    #[test]
    fn a_mention_is_used_by_any_item_that_has_its_words() {
        let values = [text("new york"), text("york"), text("name"), number(7), number(1), text("the")];
        let asked = Asked::new("the name of 7 cities near new york, one each", &values, &[]);
        assert_eq!(asked.compare("SELECT city.name FROM city"), [1, 1, 0]);
        let used = "SELECT city.name FROM city WHERE city.name = 'new york' LIMIT 7";
        assert_eq!(asked.compare(used), [0, 0, 0]);
        // A shorter value inside of the longest one has some of its words, and a column may be what a value's words mean.
        assert_eq!(asked.compare("SELECT COUNT(*) FROM city WHERE city.name = 'york'"), [1, 0, 0]);
        assert_eq!(asked.compare("SELECT city.name FROM city WHERE city.name = 'york' LIMIT 7"), [0, 0, 0]);
    }

    #[test]
    fn a_constant_that_the_question_does_not_say_is_counted_unless_it_is_0_or_1() {
        let constants = [number(150_000), text("asia")];
        let unsaid = Asked::new("which cities are major", &[], &constants);
        assert_eq!(
            unsaid.compare("SELECT city.name FROM city WHERE city.name = 'asia' LIMIT 150000"),
            [0, 0, 2]
        );
        assert_eq!(unsaid.compare("SELECT city.name FROM city LIMIT 1"), [0, 0, 0]);
        let said = Asked::new("which cities are in asia", &[text("asia")], &constants);
        assert_eq!(said.compare("SELECT city.name FROM city WHERE city.name = 'asia'"), [0, 0, 0]);
        assert_eq!(said.compare("SELECT COUNT(*) FROM city"), [0, 1, 0]);
    }

    #[test]
    fn the_penalty_of_a_partial_program_is_a_bound_of_what_it_will_be() {
        let asked = Asked::new("7 cities in asia", &[text("asia"), number(7)], &[number(9)]);
        let (question, mentions) = (&asked.question, Mentions::new(&asked.question));
        let penalties = MentionPenalties { unused_number: 1.0, unused_text: 10.0, unsaid: 100.0 };
        let grammar = question.grammar();
        for (sql, last) in [
            ("SELECT city.name FROM city", 11.0),
            ("SELECT city.name FROM city WHERE city.name = 'asia'", 1.0),
            ("SELECT city.name FROM city WHERE city.name = 'asia' LIMIT 7", 0.0),
            ("SELECT city.name FROM city WHERE city.name = 'asia' LIMIT 9", 101.0),
        ] {
            let program = asked.program(sql);
            let mut partial = crate::partial::PartialProgram::new(grammar);
            let mut so_far = Vec::new();
            for &action in program.actions() {
                let open = partial.derivation.open();
                let next = NextPenalty::new(
                    (&mentions, penalties),
                    &partial.named,
                    open,
                    (question.sense(), grammar),
                );
                so_far.push(next.with(action));
                assert!(partial.advance(grammar, action));
            }
            assert_eq!(so_far.last(), Some(&last), "{sql}");
            assert_eq!(penalties.of(mentions.compare(&program)), last, "{sql}");
            assert!(so_far.is_sorted(), "{sql}: {so_far:?}");
            assert_eq!(so_far[0], 0.0, "{sql}");
        }
        // Without a condition nothing can use the name any more, before the outputs are written.
        let program = asked.program("SELECT city.name FROM city");
        let mut partial = crate::partial::PartialProgram::new(grammar);
        assert!(partial.advance(grammar, program.actions()[0]));
        let next = NextPenalty::new(
            (&mentions, penalties),
            &partial.named,
            partial.derivation.open(),
            (question.sense(), grammar),
        );
        assert_eq!(next.with(program.actions()[1]), 11.0);
    }
}
