//! Running programs on a knowledge base.

use super::KnowledgeBase;
use super::machine::{Machine, Result, Run};
use super::plan::Plan;
use crate::{Executor, Limits, Outcome};
use xpr_lang::lambda_dcs::Form;

/// Whether a run that came to a value found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did.
    Something,
    /// Its value is the empty list.
    Nothing,
}

/// Runs programs on a knowledge base, one after the other, in the same buffers.
#[derive(Debug)]
pub struct Runner<'w> {
    world: &'w KnowledgeBase,
    limits: Limits,
    form: Form,
    plan: Plan,
    run: Run,
}

impl<'w> Runner<'w> {
    /// A runner on `world`.
    pub fn new(world: &'w KnowledgeBase, limits: Limits) -> Self {
        Runner { world, limits, form: Form::default(), plan: Plan::default(), run: Run::new(world) }
    }

    /// Runs a plan made for this world.
    ///
    /// # Errors
    /// If it does not come to a value.
    pub fn run(&mut self, plan: &Plan) -> Result<Verdict> {
        Machine { world: self.world, plan, limits: self.limits, run: &mut self.run }.run()
    }

    /// Appends the value that the last run of `plan` came to, as SEMPRE prints it.
    ///
    /// # Errors
    /// If it is too long; what was written by then stays.
    pub fn write_answer(&mut self, plan: &Plan, out: &mut String) -> Result<()> {
        Machine { world: self.world, plan, limits: self.limits, run: &mut self.run }.write_answer(out)
    }

    /// Runs a form and appends its denotation.
    ///
    /// # Errors
    /// If it does not come to a value.
    pub fn run_form(&mut self, form: &Form, out: &mut String) -> Result<Verdict> {
        let mut plan = std::mem::take(&mut self.plan);
        self.world.compile_into(form, &mut plan);
        let start = out.len();
        let result = self.run(&plan).and_then(|verdict| self.write_answer(&plan, out).map(|()| verdict));
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
                    Ok(Verdict::Something) => Outcome::Value(denotation),
                    Ok(Verdict::Nothing) => Outcome::Empty,
                    Err(fault) => fault.into(),
                }
            }
        };
        self.form = form;
        outcome
    }
}
