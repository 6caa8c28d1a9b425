//! Two teachers, one after the other.
//!
//! An ensemble gives a parser a better start than the labels do. From there the parser can go on with its own search, which is
//! the paper's expectation-maximisation.

use super::{Lesson, Student, Teacher};
use crate::task::{TaskError, UnlabeledExample};

/// A teacher until a step, and another one from that step on.
#[derive(Debug)]
pub struct InSequence<First, Second> {
    first: First,
    second: Second,
    /// The step, from 0, from which on the second teacher teaches.
    change: usize,
    is_second: bool,
}

impl<First: Teacher, Second: Teacher> InSequence<First, Second> {
    /// Creates the sequence of two teachers. The second one teaches from step `change` on, whatever its own start is.
    pub fn new(first: First, second: Second, change: usize) -> Self {
        InSequence { first, second, change, is_second: false }
    }
}

impl<First: Teacher, Second: Teacher> Teacher for InSequence<First, Second> {
    fn start(&self) -> usize {
        self.first.start().min(self.change)
    }

    fn weight(&self, step: usize) -> f64 {
        if step < self.change { self.first.weight(step) } else { self.second.weight(step) }
    }

    fn lessons(&mut self, batch: &[(usize, &UnlabeledExample)], student: &mut Student<'_>) -> Vec<Lesson> {
        self.is_second = student.step() >= self.change;
        match self.is_second {
            false => self.first.lessons(batch, student),
            true => self.second.lessons(batch, student),
        }
    }

    fn cache_hit_rate(&self) -> Option<f64> {
        if self.is_second { self.second.cache_hit_rate() } else { self.first.cache_hit_rate() }
    }

    fn check_data(&self) -> Result<(), TaskError> {
        self.first.check_data()?;
        self.second.check_data()
    }
}
