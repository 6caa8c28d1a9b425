//! Given programs as the steps of the decoder that write them.

use crate::decoder::TargetProgram;
use crate::encoder::EncodedBatch;
use crate::layers::ModelContext;
use crate::partial::{PartialProgram, StepInput};
use xpr_lang::ItemId;
use xpr_nn::layers::Choice;

/// The steps of given programs: first the first actions of all programs, then their second actions, and so on.
pub(crate) struct TargetSteps {
    /// The programs, longest first: those that have a further action are always the first ones.
    pub(crate) order: Vec<usize>,
    /// For each step, the number of programs that have it.
    pub(crate) active: Vec<usize>,
    /// For each action, the decoder's input.
    pub(crate) inputs: Vec<StepInput>,
    /// For each action, the items that its program names before it.
    pub(crate) named: Vec<Vec<ItemId>>,
    /// For each action, the actions it is chosen from.
    pub(crate) choices: Vec<Choice>,
    /// For each action, the index of its program.
    pub(crate) program_of: Vec<usize>,
}

impl TargetSteps {
    pub(crate) fn new(
        context: ModelContext<'_>,
        batch: &EncodedBatch<'_>,
        programs: &[TargetProgram<'_>],
    ) -> Self {
        let scene = context.scene;
        let mut order: Vec<usize> = (0..programs.len()).collect();
        order.sort_by_key(|&program| (std::cmp::Reverse(programs[program].actions.len()), program));
        let longest = order.first().map_or(0, |&program| programs[program].actions.len());
        let question_of = |program: usize| batch.questions[programs[program].question];
        let grammar_of = |program: usize| question_of(program).grammar();
        let mut partials: Vec<PartialProgram> =
            order.iter().map(|&program| PartialProgram::new(grammar_of(program))).collect();
        let mut steps = TargetSteps {
            order,
            active: vec![],
            inputs: vec![],
            named: vec![],
            choices: vec![],
            program_of: vec![],
        };
        for step in 0..longest {
            let mut active = 0;
            for (partial, &index) in partials.iter_mut().zip(&steps.order) {
                let program = &programs[index];
                let Some(&action) = program.actions.get(step) else { break };
                let Some(input) = partial.input(program.question) else { break };
                let question = question_of(index);
                let chosen = scene.column(action);
                let mut allowed = question.offered(input.expected, &partial.named);
                // A labeled program may name items in an order that search would not.
                if !allowed.contains(&chosen) {
                    allowed = question.allowed(input.expected);
                }
                steps.choices.push(Choice { allowed, chosen });
                steps.inputs.push(input);
                steps.named.push(partial.named.clone());
                steps.program_of.push(index);
                active += 1;
                partial.advance(grammar_of(index), action);
            }
            steps.active.push(active);
        }
        steps
    }
}
