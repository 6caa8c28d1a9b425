//! The tools and their parameters.

use crate::output::{Answer, Confirmation, DataSchema, QueryResult};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::schemars::{self, JsonSchema};
use rmcp::{Json, ServerHandler, tool, tool_handler, tool_router};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::sync::Arc;
use xpr_log::Verdict;
use xpr_serve::{FeedbackRequest, Problem, ServedRun};

/// The number of rows if the caller does not say how many.
const DEFAULT_ROWS: usize = 50;
/// The largest number of rows.
const MAX_ROWS: usize = 1000;

/// The parameters of the tool `ask`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskParameters {
    /// A question about the data, in English.
    pub question: String,
    /// The largest number of rows to return; 50 if not given, and at most 1000.
    #[serde(default, deserialize_with = "whole_number")]
    pub max_rows: Option<usize>,
}

impl AskParameters {
    pub(crate) fn most_rows(&self) -> usize {
        self.max_rows.unwrap_or(DEFAULT_ROWS).min(MAX_ROWS)
    }
}

/// Reads a number that may be written as `1000.0`: for JSON Schema, that is an integer too.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    match number {
        Some(number) if number < 0.0 || number.fract() != 0.0 => {
            Err(Error::custom(format!("expected a whole number of rows, and found {number}")))
        }
        // There are never more rows than a double can count.
        number => Ok(number.map(|number| number as usize)),
    }
}

/// The parameters of the tool `run`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunParameters {
    /// A SELECT statement in the SQL of the database.
    pub sql: String,
    /// The largest number of rows to return; 50 if not given, and at most 1000.
    #[serde(default, deserialize_with = "whole_number")]
    pub max_rows: Option<usize>,
}

impl RunParameters {
    pub(crate) fn most_rows(&self) -> usize {
        self.max_rows.unwrap_or(DEFAULT_ROWS).min(MAX_ROWS)
    }
}

/// What a person said about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SaidVerdict {
    /// The answer of `ask` is right, and so is its SQL.
    Right,
    /// The right SQL is the one in `sql`.
    Corrected,
    /// The answer of the query in `sql`, which is one of the other answers, is right.
    Answer,
    /// The answer of `ask` is wrong.
    Wrong,
    /// None of the answers is right.
    NoneOfThese,
}

impl From<SaidVerdict> for Verdict {
    fn from(said: SaidVerdict) -> Self {
        match said {
            SaidVerdict::Right => Verdict::Right,
            SaidVerdict::Corrected => Verdict::Corrected,
            SaidVerdict::Answer => Verdict::Answer,
            SaidVerdict::Wrong => Verdict::Wrong,
            SaidVerdict::NoneOfThese => Verdict::NoneOfThese,
        }
    }
}

/// The parameters of the tool `confirm`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmParameters {
    /// The number of the question, which `ask` returned as `id`.
    pub id: i64,
    /// What the person said.
    pub verdict: SaidVerdict,
    /// The query of the verdicts `corrected` and `answer`.
    #[serde(default)]
    pub sql: Option<String>,
}

/// The tools of a parser.
#[derive(Clone, Debug)]
pub struct ParserTools {
    run: Arc<ServedRun>,
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl ParserTools {
    /// Creates the tools of a run. `confirm` is offered only if feedback is allowed and the run has a log.
    pub fn new(run: Arc<ServedRun>, allows_feedback: bool) -> Self {
        let mut tool_router = Self::tool_router();
        if !allows_feedback || !run.has_log() {
            tool_router.remove_route("confirm");
        }
        ParserTools { run, tool_router }
    }

    /// Answers a question about the data with a query that a small trained parser writes. Returns the query, its rows, and how sure the
    /// parser is. If it is not sure, check the query, and look at the other answers. Changes no data. If the answer has an `id`, the
    /// question is kept in the owner's log of questions.
    #[tool(annotations(
        title = "Ask a question",
        read_only_hint = true,
        destructive_hint = false,
        // Each question is a line of the log.
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn ask(&self, Parameters(asked): Parameters<AskParameters>) -> Result<Json<Answer>, String> {
        let most_rows = asked.most_rows();
        let answer = self.run.ask(asked.question).await.map_err(message)?;
        Ok(Json(Answer::new(answer, most_rows)))
    }

    /// Lists the tables and columns that questions can be about. Changes nothing.
    #[tool(annotations(
        title = "Tables and columns",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn schema(&self) -> Result<Json<DataSchema>, String> {
        let run = Arc::clone(&self.run);
        let schema = tokio::task::spawn_blocking(move || run.schema()).await;
        schema.map(|schema| Json(DataSchema::new(schema))).map_err(|_| "the tables cannot be read".to_owned())
    }

    /// Runs a query and returns its rows. The database is opened read-only: statements that would change something are refused, and
    /// long ones are stopped.
    #[tool(annotations(
        title = "Run a query",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn run(&self, Parameters(query): Parameters<RunParameters>) -> Result<Json<QueryResult>, String> {
        let most_rows = query.most_rows();
        let answer = self.run.run(query.sql, None).await.map_err(message)?;
        Ok(Json(QueryResult::new(answer, most_rows)))
    }

    /// Writes to the question log what a person said about an answer, so that the parser can learn from it. Call it only with what a
    /// person said, not with your own opinion. Adds a line to the log, and changes no data.
    #[tool(annotations(
        title = "Confirm or correct an answer",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn confirm(
        &self,
        Parameters(said): Parameters<ConfirmParameters>,
    ) -> Result<Json<Confirmation>, String> {
        let ConfirmParameters { id, verdict, sql } = said;
        let said = FeedbackRequest { id, verdict: verdict.into(), sql, run: None };
        let kept = self.run.feedback(said).await.map_err(message)?;
        Ok(Json(Confirmation { id: kept.id }))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for ParserTools {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("xpr", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(
            "Answers questions about one database. Use `ask` for questions in English, `schema` to see what there is, and `run` for \
             SQL of your own. The database cannot be changed."
                .to_owned(),
        );
        info
    }
}

/// Returns what a language model is told of a problem.
fn message(problem: Problem) -> String {
    problem.detail
}
