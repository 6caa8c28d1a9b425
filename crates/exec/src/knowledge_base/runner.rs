//! Running programs on a knowledge base.

use super::KnowledgeBase;
use super::machine::{Machine, MachineState, Result};
use super::plan::Plan;
use crate::{Executor, Limits, Outcome};
use xpr_lang::lambda_dcs::Form;

/// Whether the answer of a run is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// Any value but the empty list.
    NonEmpty,
    /// The empty list.
    Empty,
}

/// An executor of lambda-DCS programs on a knowledge base. It reuses its buffers from run to run.
#[derive(Debug)]
pub struct Runner<'w> {
    world: &'w KnowledgeBase,
    limits: Limits,
    form: Form,
    plan: Plan,
    state: MachineState,
}

impl<'w> Runner<'w> {
    /// Returns a runner for programs on `world`.
    pub fn new(world: &'w KnowledgeBase, limits: Limits) -> Self {
        let state = MachineState::new(world);
        Runner { world, limits, form: Form::default(), plan: Plan::default(), state }
    }

    /// Runs a plan that was compiled for this knowledge base.
    ///
    /// # Errors
    /// If the run fails or exceeds a limit.
    pub fn run(&mut self, plan: &Plan) -> Result<AnswerKind> {
        Machine { world: self.world, plan, limits: self.limits, state: &mut self.state }.run()
    }

    /// Appends the answer of the last run, which must have been of `plan`, as SEMPRE prints it.
    ///
    /// # Errors
    /// If the answer exceeds the output limit. `out` then has its beginning.
    pub fn write_answer(&mut self, plan: &Plan, out: &mut String) -> Result<()> {
        Machine { world: self.world, plan, limits: self.limits, state: &mut self.state }.write_answer(out)
    }

    /// Runs a form and appends its denotation.
    ///
    /// # Errors
    /// If the run fails or exceeds a limit. `out` is then unchanged.
    pub fn run_form(&mut self, form: &Form, out: &mut String) -> Result<AnswerKind> {
        let mut plan = std::mem::take(&mut self.plan);
        self.world.compile_into(form, &mut plan);
        let start = out.len();
        let result = self.run(&plan).and_then(|kind| self.write_answer(&plan, out).map(|()| kind));
        if result.is_err() {
            out.truncate(start);
        }
        self.plan = plan;
        result
    }
}

impl Executor for Runner<'_> {
    fn execute(&mut self, program: &str) -> Outcome {
        let mut form = std::mem::take(&mut self.form);
        let outcome = match form.parse_into(program) {
            Err(error) => Outcome::RuntimeError(error.to_string()),
            Ok(()) => {
                let mut denotation = String::new();
                match self.run_form(&form, &mut denotation) {
                    Ok(AnswerKind::NonEmpty) => Outcome::Value(denotation),
                    Ok(AnswerKind::Empty) => Outcome::Empty,
                    Err(fault) => fault.into(),
                }
            }
        };
        self.form = form;
        outcome
    }
}
