//! Pages of records that were written for a test.

mod hostile;
mod markup;
mod record;
mod runs;
