//! What is reported of a step.

use crate::teacher::{Lesson, LessonDiagnostics};
use std::time::{Duration, Instant};
use xpr_run::UnlabeledReport;

/// The time that the parts of a step took.
#[derive(Clone, Copy, Debug)]
pub struct StepTiming {
    /// Searching programs for unlabeled questions, including reading the batch for it.
    pub search: Duration,
    /// Running programs.
    pub execution: Duration,
    /// Forward and backward pass.
    pub gradient: Duration,
    /// The optimiser.
    pub update: Duration,
}

impl StepTiming {
    /// Returns the timing of a step that ends now, from when it began, when the lessons were there, and when the gradient was.
    pub(super) fn new(lessons: &[Lesson], begin: Instant, taught: Instant, differentiated: Instant) -> Self {
        let execution = lessons.iter().map(|lesson| lesson.execution).sum();
        StepTiming {
            search: taught - begin - execution,
            execution,
            gradient: differentiated - taught,
            update: differentiated.elapsed(),
        }
    }
}

/// Reports the lessons of a step, if there were any. `losses` are those of their programs, with the weight λ.
pub(super) fn unlabeled_report(
    lessons: &[Lesson],
    losses: &[f64],
    weight: f64,
    cached: Option<f64>,
) -> Option<UnlabeledReport> {
    if lessons.is_empty() {
        return None;
    }
    let objective: Option<f64> = lessons.iter().map(|lesson| lesson.loss).sum();
    let loss = match objective {
        Some(sum) => sum / lessons.len() as f64,
        None => losses.iter().sum::<f64>() / weight.max(f64::MIN_POSITIVE),
    };
    let report = LessonDiagnostics::report(lessons.iter().map(|lesson| &lesson.diagnostics));
    Some(UnlabeledReport { loss, cached, ..report })
}
