//! The rules of each world. The order of the random draws must not change.

use super::java_random::JavaRandom;
use crate::value::entity_type;
use crate::{KbValue, KnowledgeBase, KnowledgeBaseBuilder};

/// The number of entities in each main group of a world.
const GROUP: usize = 60;

pub(super) fn build(name: &str) -> Option<KnowledgeBase> {
    let mut world = WorldBuilder { random: JavaRandom::new(1), builder: KnowledgeBaseBuilder::new() };
    match name {
        "basketball" => basketball(&mut world),
        "blocks" => blocks(&mut world),
        "calendar" => calendar(&mut world),
        "housing" => housing(&mut world),
        "publications" => publications(&mut world),
        "recipes" => recipes(&mut world),
        "restaurants" => restaurants(&mut world),
        "socialnetwork" => socialnetwork(&mut world),
        _ => return None,
    }
    Some(world.builder.finish())
}

struct WorldBuilder {
    random: JavaRandom,
    builder: KnowledgeBaseBuilder,
}

impl WorldBuilder {
    /// Adds entities of a type with these ids.
    fn entities(&mut self, ty: &str, ids: &[&str]) -> Vec<KbValue> {
        ids.iter().map(|id| self.entity(&format!("{ty}.{id}"))).collect()
    }

    /// Adds a main group of entities: the first have these ids, and the rest have their index as id.
    fn group(&mut self, ty: &str, ids: &[&str]) -> Vec<KbValue> {
        (0..GROUP)
            .map(|index| match ids.get(index) {
                Some(id) => self.entity(&format!("{ty}.{id}")),
                None => self.entity(&format!("{ty}.{index}")),
            })
            .collect()
    }

    /// Adds an entity and its type, unless it is there already.
    fn entity(&mut self, id: &str) -> KbValue {
        let entity = KbValue::name(id);
        if !self.builder.contains(&entity) {
            let ty = entity_type(id).expect("the ids of this file have types");
            self.insert(&entity, "type", &KbValue::name(ty));
        }
        entity
    }

    fn insert(&mut self, subject: &KbValue, property: &str, object: &KbValue) {
        self.builder.insert(subject, property, object).expect("the values of this file have types");
    }

    /// Adds a random value of a list.
    fn one(&mut self, entity: &KbValue, property: &str, list: &[KbValue]) {
        let object = self.random.one(list);
        self.insert(entity, property, object);
    }

    /// Adds `count` random values of a list, not necessarily different ones.
    fn many(&mut self, entity: &KbValue, property: &str, list: &[KbValue], count: i32) {
        for _ in 0..count {
            self.one(entity, property, list);
        }
    }

    /// Adds the first value of a list with probability ½, else any of its values.
    fn focus(&mut self, entity: &KbValue, property: &str, list: &[KbValue]) {
        let object = self.random.focus(list);
        self.insert(entity, property, object);
    }

    /// Adds a random number from `low` to just below `high`.
    fn number(&mut self, entity: &KbValue, property: &str, (low, high): (i32, i32), unit: &str) {
        let value = self.random.int(low, high);
        self.insert(entity, property, &KbValue::number(value, Some(unit)));
    }

    /// Adds the number `common` with probability ½, else a random number from `low` to just below `high`.
    fn common(&mut self, entity: &KbValue, property: &str, common: i32, (low, high): (i32, i32), unit: &str) {
        let other = self.random.int(low, high);
        let value = *self.random.one(&[common, other]);
        self.insert(entity, property, &KbValue::number(value, Some(unit)));
    }

    /// Adds a random year.
    fn year(&mut self, entity: &KbValue, property: &str) {
        let year = self.random.int(2000, 2010);
        self.insert(entity, property, &KbValue::Date { year, month: -1, day: -1 });
    }

    /// Adds a random hour.
    fn hour(&mut self, entity: &KbValue, property: &str) {
        let hour = self.random.int(9, 16);
        self.insert(entity, property, &KbValue::Time { hour, minute: 0 });
    }

    /// Adds each of the unary properties with probability ½.
    fn maybe(&mut self, entity: &KbValue, properties: &[&str]) {
        for property in properties {
            if self.random.bernoulli(0.5) {
                self.insert(entity, property, &KbValue::Boolean(true));
            }
        }
    }
}

fn blocks(world: &mut WorldBuilder) {
    let blocks = world.group("en.block", &["block1", "block2"]);
    let shapes = world.entities("en.shape", &["pyramid", "cube"]);
    let colors = world.entities("en.color", &["red", "green"]);
    for block in &blocks {
        world.one(block, "shape", &shapes);
        world.one(block, "color", &colors);
        for property in ["length", "width", "height"] {
            world.number(block, property, (2, 8), "en.inch");
        }
        for property in ["left", "right", "above", "below"] {
            world.one(block, property, &blocks);
        }
        world.maybe(block, &["is_special"]);
    }
}

fn calendar(world: &mut WorldBuilder) {
    let meetings = world.group("en.meeting", &["weekly_standup", "annual_review"]);
    let people = world.entities("en.person", &["alice", "bob"]);
    let locations = world.entities("en.location", &["greenberg_cafe", "central_office"]);
    for meeting in &meetings {
        let day = world.random.int(1, 5);
        world.insert(meeting, "date", &KbValue::Date { year: 2015, month: 1, day });
        world.hour(meeting, "start_time");
        world.hour(meeting, "end_time");
        world.number(meeting, "length", (1, 4), "en.hour");
        world.many(meeting, "attendee", &people, 2);
        world.one(meeting, "location", &locations);
        world.maybe(meeting, &["is_important"]);
    }
}

fn restaurants(world: &mut WorldBuilder) {
    let restaurants = world.group("en.restaurant", &["thai_cafe", "pizzeria_juno"]);
    let neighborhoods = world.entities("en.neighborhood", &["tribeca", "midtown_west", "chelsea"]);
    let cuisines = world.entities("en.cuisine", &["thai", "french", "italian"]);
    let meals = world.entities("en.food", &["breakfast", "lunch", "dinner"]);
    for restaurant in &restaurants {
        world.number(restaurant, "star_rating", (0, 6), "en.star");
        world.number(restaurant, "price_rating", (1, 5), "en.dollar_sign");
        world.number(restaurant, "num_reviews", (20, 60), "en.review");
        world.one(restaurant, "neighborhood", &neighborhoods);
        world.one(restaurant, "cuisine", &cuisines);
        for meal in &meals {
            if world.random.bernoulli(0.5) {
                world.insert(restaurant, "meals", meal);
            }
        }
        world.maybe(
            restaurant,
            &["reserve", "credit", "outdoor", "takeout", "delivery", "waiter", "kids", "groups"],
        );
    }
}

fn housing(world: &mut WorldBuilder) {
    let units = world.group("en.housing_unit", &["123_sesame_street", "900_mission_ave"]);
    let types = world.entities("en.housing", &["apartment", "condo", "house", "flat"]);
    let neighborhoods = world.entities("en.neighborhood", &["tribeca", "midtown_west", "chelsea"]);
    for unit in &units {
        world.common(unit, "rent", 1500, (1000, 3000), "en.dollar");
        world.common(unit, "size", 800, (500, 1500), "en.square_feet");
        world.year(unit, "posting_date");
        world.one(unit, "neighborhood", &neighborhoods);
        world.one(unit, "housing_type", &types);
        world.maybe(unit, &["allows_cats", "allows_dogs", "has_private_bath", "has_private_room"]);
    }
}

fn publications(world: &mut WorldBuilder) {
    let articles = world.group("en.article", &["multivariate_data_analysis"]);
    let people = world.entities("en.person", &["efron", "lakoff"]);
    let venues = world.entities("en.venue", &["computational_linguistics", "annals_of_statistics"]);
    for article in &articles {
        world.many(article, "author", &people, 2);
        world.one(article, "venue", &venues);
        world.year(article, "publication_date");
        let citations = world.random.int(1, 10);
        world.many(article, "cites", &articles, citations);
        world.insert(article, "won_award", &KbValue::Boolean(true));
    }
}

fn socialnetwork(world: &mut WorldBuilder) {
    let people = world.group("en.person", &["alice", "bob"]);
    let genders = world.entities("en.gender", &["male", "female"]);
    let statuses = world.entities("en.relationship_status", &["single", "married"]);
    let cities = world.entities("en.city", &["new_york", "beijing"]);
    let universities = world.entities("en.university", &["brown", "berkeley", "ucla"]);
    let fields = world.entities("en.field", &["computer_science", "economics", "history"]);
    let companies = world.entities("en.company", &["google", "mckinsey", "toyota"]);
    let titles = world.entities("en.job_title", &["ceo", "software_engineer", "program_manager"]);
    for person in &people {
        world.one(person, "gender", &genders);
        world.one(person, "relationship_status", &statuses);
        world.number(person, "height", (150, 210), "en.cm");
        world.year(person, "birthdate");
        world.one(person, "birthplace", &cities);
        let friends = world.random.int(0, 3);
        world.many(person, "friend", &people, friends);
        world.maybe(person, &["logged_in"]);
    }
    // Education and employment are events: a person, two properties and a period.
    for (event, person, first, second) in [
        ("education", "student", ("university", &universities), ("field_of_study", &fields)),
        ("employment", "employee", ("employer", &companies), ("job_title", &titles)),
    ] {
        for entity in &world.group(&format!("en.{event}"), &["0"]) {
            world.focus(entity, person, &people);
            for (property, list) in [first, second] {
                world.one(entity, property, list);
            }
            world.year(entity, &format!("{event}_start_date"));
            world.year(entity, &format!("{event}_end_date"));
        }
    }
}

fn basketball(world: &mut WorldBuilder) {
    let players = world.group("en.player", &["kobe_bryant", "lebron_james"]);
    let teams = world.entities("en.team", &["lakers", "cavaliers"]);
    let positions = world.entities("en.position", &["point_guard", "forward"]);
    for stats in &world.group("en.stats", &["0"]) {
        world.focus(stats, "player", &players);
        world.one(stats, "position", &positions);
        world.one(stats, "team", &teams);
        world.year(stats, "season");
        for (property, unit) in [
            ("num_points", "point"),
            ("num_assists", "assist"),
            ("num_steals", "steal"),
            ("num_turnovers", "turnover"),
            ("num_rebounds", "rebound"),
            ("num_blocks", "block"),
            ("num_fouls", "foul"),
            ("num_games_played", "game"),
        ] {
            world.number(stats, property, (0, 10), unit);
        }
    }
}

fn recipes(world: &mut WorldBuilder) {
    let recipes = world.group("en.recipe", &["rice_pudding", "quiche"]);
    let cuisines = world.entities("en.cuisine", &["chinese", "french"]);
    let ingredients = world.entities("en.ingredient", &["milk", "spinach"]);
    let meals = world.entities("en.meal", &["lunch", "dinner"]);
    for recipe in &recipes {
        world.number(recipe, "preparation_time", (5, 30), "en.minute");
        world.number(recipe, "cooking_time", (5, 30), "en.minute");
        world.one(recipe, "cuisine", &cuisines);
        world.one(recipe, "requires", &ingredients);
        world.one(recipe, "meal", &meals);
        world.year(recipe, "posting_date");
    }
}
