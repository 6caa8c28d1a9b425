//! The limits of reading many tables, one after the other.
//!
//! Each table has limits, but a file can have thousands of views that never end. After some tables were stopped at their
//! limits, the others get a hundredth of them.

use super::guard::Allowance;
use crate::Fault;

/// The part of the limits that is left when the patience is over.
const PART: u64 = 100;

/// The limits of reading many tables.
pub(super) struct Patience {
    allowance: Allowance,
    /// The number of tables that may still be stopped.
    stops: usize,
}

impl Patience {
    /// Returns limits for each table, for as long as no more than `stops` tables exceed them.
    pub(super) fn new(allowance: Allowance, stops: usize) -> Patience {
        Patience { allowance, stops }
    }

    /// Returns the limits of the next table.
    pub(super) fn allowance(&self) -> Allowance {
        match self.stops {
            // Steps decide, so that all machines read the same.
            0 => Allowance {
                steps: self.allowance.steps / PART,
                time: self.allowance.time / 4,
                ..self.allowance
            },
            _ => self.allowance,
        }
    }

    /// Takes note of how reading a table ended.
    pub(super) fn record(&mut self, outcome: &Result<(), Fault>) {
        if let Err(Fault::Limit("steps" | "time")) = outcome {
            self.stops = self.stops.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn after_some_tables_that_never_end_the_others_get_less() {
        let full = Allowance { steps: 1000, time: Duration::from_secs(1), memory: 7 };
        let mut patience = Patience::new(full, 2);
        let outcomes = [
            (Ok(()), 1000),
            (Err(Fault::Limit("values")), 1000),
            (Err(Fault::Limit("steps")), 1000),
            (Err(Fault::Limit("time")), 10),
            (Err(Fault::Limit("steps")), 10),
            (Ok(()), 10),
        ];
        for (outcome, steps) in outcomes {
            patience.record(&outcome);
            assert_eq!(patience.allowance().steps, steps, "{outcome:?}");
            assert_eq!(patience.allowance().memory, 7);
        }
    }
}
