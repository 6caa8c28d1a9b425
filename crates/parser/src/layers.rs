//! Layers with their parameters, which encoder and decoder are built from.

use crate::{Ablation, ModelConfig, Scene};
use xpr_nn::{Init, ParameterId, Parameters, Tape, Var};

/// What every part of the model needs for its computations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelContext<'a> {
    pub(crate) parameters: &'a Parameters,
    pub(crate) config: &'a ModelConfig,
    pub(crate) scene: &'a Scene,
}

impl ModelContext<'_> {
    /// Returns whether the model reads phrases of rules, and there are some.
    pub(crate) fn has_rule_phrases(&self) -> bool {
        self.config.has(Ablation::RulePhrases) && !self.scene.rule_phrases().is_empty()
    }
}

/// `x W + b`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    weight: ParameterId,
    bias: ParameterId,
}

impl Affine {
    pub(crate) fn new(parameters: &mut Parameters, name: &str, inputs: usize, outputs: usize) -> Self {
        Affine {
            weight: parameters.add(&format!("{name}.weight"), inputs, outputs, Init::Xavier),
            bias: parameters.add(&format!("{name}.bias"), 1, outputs, Init::Constant(0.0)),
        }
    }

    pub(crate) fn apply(self, tape: &mut Tape, context: ModelContext<'_>, input: Var) -> Var {
        tape.linear(context.parameters, input, self.weight, Some(self.bias))
    }
}

/// Layer normalisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    gain: ParameterId,
    bias: ParameterId,
}

impl Norm {
    pub(crate) fn new(parameters: &mut Parameters, name: &str, size: usize) -> Self {
        Norm {
            gain: parameters.add(&format!("{name}.gain"), 1, size, Init::Constant(1.0)),
            bias: parameters.add(&format!("{name}.bias"), 1, size, Init::Constant(0.0)),
        }
    }

    pub(crate) fn apply(self, tape: &mut Tape, context: ModelContext<'_>, input: Var) -> Var {
        tape.layer_norm(context.parameters, input, self.gain, self.bias)
    }
}
