//! Sums, averages and arithmetic.

use crate::knowledge_base::ValueId;
use crate::knowledge_base::machine::{Machine, Result, runtime_error, type_error};
use crate::knowledge_base::plan::{Keyword, ListRef, LocalContent, LocalType, StackEntry, StringRef};

impl<'a> Machine<'a> {
    /// `SW.sum`: the sum of a list of numbers, without a unit.
    pub(super) fn sum(&mut self, list: ListRef) -> Result<StackEntry> {
        let sum = self.total(list)?;
        let ty = self.world.unitless_type();
        let sum = self.add_local(LocalContent::Number(sum, None), ty)?;
        Ok(StackEntry::List(self.list_of(sum)?))
    }

    /// Returns the sum of a list of numbers.
    fn total(&mut self, list: ListRef) -> Result<f64> {
        self.spend(list.len as usize)?;
        let mut sum = 0.0;
        for &id in self.slice(list) {
            match self.number(id) {
                Some(value) => sum += value,
                None => {
                    return type_error(format!(
                        "only numbers can be added, and {} is not one",
                        self.describe(id)
                    ));
                }
            }
        }
        Ok(sum)
    }

    /// `SW.aggregate`: the sum or average of a list of numbers, with the unit of the first.
    pub(super) fn aggregate(&mut self, mode: StringRef, list: ListRef) -> Result<StackEntry> {
        if list.len == 0 {
            return runtime_error(format!("SW.aggregate {} of an empty list", self.display_string(mode)));
        }
        let sum = self.total(list)?;
        let result = match self.keyword(mode) {
            Keyword::Average => sum / f64::from(list.len),
            Keyword::Sum => sum,
            _ => return runtime_error(format!("SW.aggregate does not know {}", self.display_string(mode))),
        };
        let first = self.get(list, 0);
        let ty = match self.local(first) {
            None => LocalType::Known(self.world.types[first as usize]),
            Some(local) => local.ty.clone(),
        };
        let result = self.add_local(LocalContent::Number(result, Some(first)), ty)?;
        Ok(StackEntry::List(self.list_of(result)?))
    }

    /// `SW.arithOp`: the results for all pairs of a left and a right number.
    pub(super) fn arithmetic(&mut self, op: StringRef, left: ListRef, right: ListRef) -> Result<StackEntry> {
        let len = left.len as usize * right.len as usize;
        self.spend(len)?;
        self.reserve(2 * len)?;
        let ty = self.world.unitless_type();
        let first = (self.world.values.len() + self.plan.locals.len() + self.state.locals.len()) as ValueId;
        for left_index in 0..left.len {
            for right_index in 0..right.len {
                let (left, right) = (self.get(left, left_index), self.get(right, right_index));
                let (Some(x), Some(y)) = (self.number(left), self.number(right)) else {
                    return type_error(format!(
                        "SW.arithOp takes numbers, not {} and {}",
                        self.describe(left),
                        self.describe(right)
                    ));
                };
                let result = match self.keyword(op) {
                    Keyword::Plus => x + y,
                    Keyword::Minus => x - y,
                    Keyword::Times => x * y,
                    Keyword::Divide => x / y,
                    _ => {
                        return runtime_error(format!(
                            "SW.arithOp does not know {}",
                            self.display_string(op)
                        ));
                    }
                };
                self.add_local(LocalContent::Number(result, None), ty.clone())?;
            }
        }
        let start = self.state.elements.len();
        self.state.elements.extend((first..).take(len));
        Ok(StackEntry::List(self.list_from(start)))
    }
}
