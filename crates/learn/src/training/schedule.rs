//! The learning rate.

use xpr_nn::Schedule;
use xpr_run::TrainConfig;

/// Returns the schedule of the settings: a linear rise to the highest rate, then polynomial decay.
pub(super) fn schedule(config: &TrainConfig) -> Schedule {
    Schedule {
        peak: config.rate,
        end: config.end_rate,
        warmup: config.warmup,
        total: config.steps,
        power: config.power,
    }
}
