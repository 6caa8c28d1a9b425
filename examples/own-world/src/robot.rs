//! A robot in a house: its language, its executor, and the world that joins them.

use std::collections::{BTreeMap, HashMap};
use xpr_exec::Executor;
use xpr_lang::{Action, Environment, Grammar, Item, Language, Outcome, Program, ReadError, Signatures};
use xpr_learn::World;
use xpr_learn::task::TaskError;

pub(crate) const PLACES: [&str; 5] = ["hall", "kitchen", "garden", "garage", "bedroom"];
/// Things, and where each of them lies. The parser is not told; it can find out by running programs.
pub(crate) const THINGS: [(&str, &str); 20] = [
    ("cup", "kitchen"),
    ("plate", "kitchen"),
    ("spoon", "kitchen"),
    ("kettle", "kitchen"),
    ("ball", "garden"),
    ("rake", "garden"),
    ("bucket", "garden"),
    ("hose", "garden"),
    ("hammer", "garage"),
    ("bicycle", "garage"),
    ("ladder", "garage"),
    ("rope", "garage"),
    ("pillow", "bedroom"),
    ("lamp", "bedroom"),
    ("blanket", "bedroom"),
    ("mirror", "bedroom"),
    ("coat", "hall"),
    ("umbrella", "hall"),
    ("basket", "hall"),
    ("key", "hall"),
];

/// The language. A plan is `stop`, or a command and the plan after it: `go kitchen take cup go garden drop cup stop`.
#[derive(Debug)]
pub(crate) struct RobotLanguage {
    signatures: Signatures,
}

impl Language for RobotLanguage {
    fn name(&self) -> &'static str {
        "robot"
    }

    fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    fn read(&self, text: &str, grammar: &Grammar, items: &dyn Environment) -> Result<Program, ReadError> {
        let action = |word: &str| {
            let rule = self.signatures.find_rule(word).map(Action::Rule);
            rule.or_else(|| items.find(word).map(Action::Item)).ok_or_else(|| {
                ReadError::NotCovered(format!("`{word}` is not a command, a place or a thing"))
            })
        };
        let actions: Vec<Action> = text.split_whitespace().map(action).collect::<Result<_, _>>()?;
        Ok(Program::from_actions(grammar, &actions)?)
    }

    fn write(&self, program: &Program, _: &Grammar, items: &dyn Environment) -> String {
        let word = |action: &Action| match action {
            Action::Rule(rule) => self.signatures.rules()[rule.index()].name.clone(),
            Action::Item(item) => items.items()[item.index()].symbol.clone(),
        };
        program.actions().iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

/// What programs can name: places and things.
#[derive(Debug)]
pub(crate) struct House {
    items: Vec<Item>,
}

impl Environment for House {
    fn items(&self) -> &[Item] {
        &self.items
    }
}

/// Carries out a plan, from the hall, and says what lies where afterwards. It fails where a person would: nobody can take
/// what is not there. A plan that moves nothing finds nothing.
struct Robot;

impl Executor for Robot {
    fn execute(&mut self, program: &str) -> Outcome {
        let lies: HashMap<&str, &str> = THINGS.into_iter().collect();
        let (mut here, mut carried, mut moved) = ("hall", None, BTreeMap::new());
        let mut words = program.split_whitespace();
        while let Some(command) = words.next().filter(|command| *command != "stop") {
            let Some(name) = words.next() else { return Outcome::TypeError(format!("{command} what?")) };
            match (command, carried) {
                ("go", _) if here != name => here = name,
                ("take", None) if moved.get(name).or(lies.get(name)) == Some(&here) => carried = Some(name),
                ("drop", Some(thing)) if thing == name => {
                    moved.insert(thing, here);
                    carried = None;
                }
                _ => return Outcome::RuntimeError(format!("it cannot {command} {name} in the {here}")),
            }
        }
        let moved: Vec<String> = moved.iter().map(|(thing, place)| format!("{thing} in {place}")).collect();
        if moved.is_empty() { Outcome::Empty } else { Outcome::Value(moved.join(", ")) }
    }
}

/// The world: language, items and executor together.
#[derive(Debug)]
pub(crate) struct RobotWorld {
    language: RobotLanguage,
    house: House,
}

impl RobotWorld {
    pub(crate) fn new() -> Self {
        let mut signatures = Signatures::new("Plan");
        let (plan, place, thing) =
            (signatures.root(), signatures.add_type("Place"), signatures.add_type("Thing"));
        let (places, things) = (signatures.add_item_kind("place"), signatures.add_item_kind("thing"));
        signatures.accept_items(place, places);
        signatures.accept_items(thing, things);
        signatures.add_rule("stop", plan, &[]);
        signatures.add_rule("go", plan, &[place, plan]);
        signatures.add_rule("take", plan, &[thing, plan]);
        signatures.add_rule("drop", plan, &[thing, plan]);
        let places = PLACES.map(|name| Item::new(places, name, name));
        let things = THINGS.map(|(name, _)| Item::new(things, name, name));
        let house = House { items: places.into_iter().chain(things).collect() };
        RobotWorld { language: RobotLanguage { signatures }, house }
    }
}

impl World for RobotWorld {
    fn language(&self) -> &dyn Language {
        &self.language
    }

    fn environment(&self) -> &dyn Environment {
        &self.house
    }

    fn executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        Ok(Box::new(Robot))
    }
}
