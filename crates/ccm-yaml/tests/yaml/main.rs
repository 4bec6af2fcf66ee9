//! Trees, spans, errors and limits of the parser.

mod fast_path;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod random_tree;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod render;
#[cfg(test)]
mod spans;
#[cfg(test)]
mod syntax_errors;
