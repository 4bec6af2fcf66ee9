//! What a text becomes, where its parts stand, what is said of its mistakes, and what a hostile one costs.

#[cfg(test)]
mod limits;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod render;
#[cfg(test)]
mod spans;
#[cfg(test)]
mod sprout;
mod usual;
