//! Progress of training.

use xpr_run::StepReport;

/// Follows the progress of training.
pub trait Observer {
    /// A step was taken, of `steps` in all.
    fn step(&mut self, report: StepReport, steps: usize);
    /// Training resumes after a step.
    fn resumed(&mut self, step: usize);
    /// The training of a member of the ensemble begins; members count from 1.
    fn member(&mut self, _member: usize, _of: usize) {}
    /// The training of a parser begins by whose answers the confidence is fitted; these parsers count from 1.
    fn fold(&mut self, _fold: usize, _of: usize) {}
    /// Something is worth knowing.
    fn note(&mut self, _message: &str) {}
    /// The training of the parser that learns from the ensemble begins.
    fn student(&mut self) {}
    /// Returns whether training should stop after the step that was taken.
    fn should_stop(&self) -> bool {
        false
    }
}
