//! The messages between this program and the child process that runs queries.
//!
//! A message is its length in four bytes and its content. Neither side trusts the other: a message that is too long or does not
//! have the form of one is an error. A hostile file may have taken over the child.

use crate::database::Cell;
use std::io::{self, Read, Write};

/// The bytes of the longest message. A row has as many at most.
const LONGEST: usize = 64 << 20;
/// The columns of the widest row.
const WIDEST: u32 = 20_000;
/// The bytes of rows that are sent together.
pub(super) const BATCH: usize = 64 << 10;

/// What the child is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Open a database. It comes first and once.
    Open(Opening),
    /// Run a query.
    Query {
        text: String,
        /// The time in milliseconds after which it gives up. The other side ends it some time later.
        time: u64,
        rows: u64,
        /// The bytes of all texts of the answer.
        output: u64,
    },
    /// Return the names of the columns of a query.
    Columns { text: String },
    /// Return the plan of a query, in JSON.
    Plan {
        text: String,
        /// As for a query.
        time: u64,
    },
}

/// How the child opens a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// The path of the file. The child makes one if it loads files.
    pub(super) path: String,
    /// The bytes that a query can use.
    pub(super) memory: u64,
    /// Files that the views of the database may read.
    pub(super) readable: Vec<String>,
    /// The statements that fill a new database from files, one for each table; none for a database that is read.
    pub(super) loading: Vec<Loading>,
}

/// How a table is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loading {
    pub(super) statement: String,
    /// The statement to run instead if a value has not the type that the first rows have.
    pub(super) otherwise: String,
}

/// What the child answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Response {
    /// The database is open.
    Ready,
    /// Some rows of an answer: the cells of one after those of another, of so many columns.
    Rows { columns: u32, cells: Vec<u8> },
    /// There are no more rows.
    End,
    /// The names of columns.
    Names(Vec<String>),
    /// The plan of a query.
    Plan(String),
    /// It failed.
    Failed(Failure),
    /// A table could not be made, which is one of those to load.
    NotLoaded { table: u64, failure: Failure },
}

/// Why something failed in the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    Type,
    Runtime,
    Time,
    Memory,
    Rows,
    Output,
}

const KINDS: [FailureKind; 6] = [
    FailureKind::Type,
    FailureKind::Runtime,
    FailureKind::Time,
    FailureKind::Memory,
    FailureKind::Rows,
    FailureKind::Output,
];

/// Writes a message.
pub(super) fn send(to: &mut impl Write, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).ok().filter(|&length| length as usize <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(content)?;
    to.flush()
}

/// Reads a message. Memory grows with what comes, and not with what is announced.
pub(super) fn receive(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::Error::other("a message is too long"));
    }
    let mut content = Vec::with_capacity(length.min(BATCH));
    from.take(length as u64).read_to_end(&mut content)?;
    match content.len() == length {
        true => Ok(content),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Appends what a message has.
trait Put {
    fn number(&mut self, number: u64);
    fn text(&mut self, text: &str);
    fn texts(&mut self, texts: &[String]);
    fn failure(&mut self, failure: &Failure);
}

impl Put for Vec<u8> {
    fn number(&mut self, number: u64) {
        self.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.extend(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }

    fn failure(&mut self, Failure { kind, message }: &Failure) {
        self.push(KINDS.iter().position(|other| other == kind).unwrap_or(1) as u8);
        self.text(message);
    }
}

/// What is left of a message.
struct Rest<'m>(&'m [u8]);

impl<'m> Rest<'m> {
    fn bytes(&mut self, count: usize) -> Option<&'m [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.number()?;
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(self.text()?);
        }
        Some(texts)
    }

    fn loading(&mut self) -> Option<Vec<Loading>> {
        let texts = self.texts()?;
        let (pairs, []) = texts.as_chunks::<2>() else { return None };
        let table = |[statement, otherwise]: &[String; 2]| Loading {
            statement: statement.clone(),
            otherwise: otherwise.clone(),
        };
        Some(pairs.iter().map(table).collect())
    }

    fn failure(&mut self) -> Option<Failure> {
        let kind = *KINDS.get(self.byte()? as usize)?;
        Some(Failure { kind, message: self.text()? })
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

impl Request {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Request::Open(Opening { path, memory, readable, loading }) => {
                bytes.push(0);
                bytes.text(path);
                bytes.number(*memory);
                bytes.texts(readable);
                let texts =
                    loading.iter().flat_map(|table| [table.statement.clone(), table.otherwise.clone()]);
                bytes.texts(&texts.collect::<Vec<String>>());
            }
            Request::Query { text, time, rows, output } => {
                bytes.push(1);
                bytes.text(text);
                [*time, *rows, *output].into_iter().for_each(|number| bytes.number(number));
            }
            Request::Columns { text } => {
                bytes.push(2);
                bytes.text(text);
            }
            Request::Plan { text, time } => {
                bytes.push(3);
                bytes.text(text);
                bytes.number(*time);
            }
        }
        bytes
    }

    /// Reads a request; `None` if it is none.
    pub(super) fn read(bytes: &[u8]) -> Option<Request> {
        let mut rest = Rest(bytes);
        let request = match rest.byte()? {
            0 => Request::Open(Opening {
                path: rest.text()?,
                memory: rest.number()?,
                readable: rest.texts()?,
                loading: rest.loading()?,
            }),
            1 => Request::Query {
                text: rest.text()?,
                time: rest.number()?,
                rows: rest.number()?,
                output: rest.number()?,
            },
            2 => Request::Columns { text: rest.text()? },
            3 => Request::Plan { text: rest.text()?, time: rest.number()? },
            _ => return None,
        };
        rest.end().map(|()| request)
    }
}

impl Response {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Response::Ready => bytes.push(0),
            Response::Rows { columns, cells } => {
                bytes.push(1);
                bytes.number(u64::from(*columns));
                bytes.extend(cells);
            }
            Response::End => bytes.push(2),
            Response::Names(names) => {
                bytes.push(3);
                bytes.texts(names);
            }
            Response::Plan(plan) => {
                bytes.push(5);
                bytes.text(plan);
            }
            Response::Failed(failure) => {
                bytes.push(4);
                bytes.failure(failure);
            }
            Response::NotLoaded { table, failure } => {
                bytes.push(6);
                bytes.number(*table);
                bytes.failure(failure);
            }
        }
        bytes
    }

    /// Reads a response; `None` if it is none. The cells of rows are not checked.
    pub(super) fn read(bytes: &[u8]) -> Option<Response> {
        let mut rest = Rest(bytes);
        let response = match rest.byte()? {
            0 => Response::Ready,
            1 => {
                let columns =
                    u32::try_from(rest.number()?).ok().filter(|columns| (1..=WIDEST).contains(columns))?;
                return Some(Response::Rows { columns, cells: rest.0.to_vec() });
            }
            2 => Response::End,
            3 => Response::Names(rest.texts()?),
            4 => Response::Failed(rest.failure()?),
            5 => Response::Plan(rest.text()?),
            6 => Response::NotLoaded { table: rest.number()?, failure: rest.failure()? },
            _ => return None,
        };
        rest.end().map(|()| response)
    }
}

/// Appends a cell.
pub(super) fn put_cell(bytes: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Null => bytes.push(0),
        Cell::Integer(integer) => {
            bytes.push(1);
            bytes.number(integer as u64);
        }
        Cell::Real(real) => {
            bytes.push(2);
            bytes.number(real.to_bits());
        }
        Cell::Text(text) => {
            bytes.push(3);
            bytes.number(text.len() as u64);
            bytes.extend(text);
        }
        Cell::Blob(blob) => {
            bytes.push(4);
            bytes.number(blob.len() as u64);
            bytes.extend(blob);
        }
    }
}

/// Calls `each_row` with the rows of cells. Returns `None` if the cells do not have the form of some.
pub(super) fn rows<E>(
    columns: u32,
    cells: &[u8],
    each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), E>,
) -> Option<Result<(), E>> {
    let mut rest = Rest(cells);
    let mut row = Vec::new();
    while !rest.0.is_empty() {
        row.push(read_cell(&mut rest)?);
        if row.len() == columns as usize {
            if let Err(error) = each_row(&row) {
                return Some(Err(error));
            }
            row.clear();
        }
    }
    row.is_empty().then_some(Ok(()))
}

fn read_cell<'m>(rest: &mut Rest<'m>) -> Option<Cell<'m>> {
    Some(match rest.byte()? {
        0 => Cell::Null,
        1 => Cell::Integer(rest.number()? as i64),
        2 => Cell::Real(f64::from_bits(rest.number()?)),
        kind @ 3..=4 => {
            let length = usize::try_from(rest.number()?).ok()?;
            let bytes = rest.bytes(length)?;
            if kind == 3 { Cell::Text(bytes) } else { Cell::Blob(bytes) }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn response() -> impl Strategy<Value = Response> {
        prop_oneof![
            Just(Response::Ready),
            Just(Response::End),
            prop::collection::vec(".*", 0..4).prop_map(Response::Names),
            ".*".prop_map(Response::Plan),
            (0..KINDS.len(), ".*")
                .prop_map(|(kind, message)| { Response::Failed(Failure { kind: KINDS[kind], message }) }),
            (any::<u64>(), ".*").prop_map(|(table, message)| Response::NotLoaded {
                table,
                failure: Failure { kind: FailureKind::Type, message },
            }),
            (1_u32..5, prop::collection::vec(any::<u8>(), 0..40))
                .prop_map(|(columns, cells)| Response::Rows { columns, cells }),
        ]
    }

    proptest! {
        #[test]
        fn messages_are_read_as_they_were_written(response in response(), text in ".*", number: u64) {
            prop_assert_eq!(Response::read(&response.to_bytes()), Some(response.clone()));
            let mut bytes = Vec::new();
            send(&mut bytes, &response.to_bytes()).unwrap();
            prop_assert_eq!(receive(&mut bytes.as_slice()).unwrap(), response.to_bytes());
            let opening = Opening {
                path: text.clone(), memory: number, readable: vec![text.clone()],
                loading: vec![Loading { statement: text.clone(), otherwise: String::new() }],
            };
            for request in [
                Request::Open(opening),
                Request::Query { text: text.clone(), time: number, rows: number, output: 7 },
                Request::Columns { text: text.clone() },
                Request::Plan { text, time: number },
            ] {
                prop_assert_eq!(Request::read(&request.to_bytes()), Some(request));
            }
        }

        /// A child that a hostile file has taken over may send anything.
        #[test]
        fn any_bytes_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), columns in 1_u32..4) {
            let _ = receive(&mut bytes.as_slice());
            let _ = Request::read(&bytes);
            let _ = Response::read(&bytes);
            let read = rows(columns, &bytes, &mut |row| match row.len() == columns as usize {
                true => Ok(()),
                false => Err(()),
            });
            prop_assert!(read != Some(Err(())));
        }
    }

    #[test]
    fn cells_are_read_as_they_were_written() {
        let cells = [
            Cell::Null,
            Cell::Integer(-7),
            Cell::Real(2.5),
            Cell::Text("größe".as_bytes()),
            Cell::Blob(&[0, 255]),
            Cell::Text(b""),
        ];
        let mut bytes = Vec::new();
        cells.iter().for_each(|&cell| put_cell(&mut bytes, cell));
        let mut read = 0;
        let outcome = rows::<()>(3, &bytes, &mut |row| {
            assert_eq!(row, &cells[read..read + 3]);
            read += 3;
            Ok(())
        });
        assert_eq!((outcome, read), (Some(Ok(())), 6));
        assert_eq!(rows::<()>(4, &bytes, &mut |_| Ok(())), None);
        // A message that announces more than it has is not read.
        assert!(receive(&mut [255, 255, 255, 0, 1].as_slice()).is_err());
    }
}
