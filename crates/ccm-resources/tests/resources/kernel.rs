//! Kernel parameters, modules, mounts and the names of the machine, with the tools of this machine, in namespaces of
//! their own and on a copy of `/etc`.

mod errors;
mod links;
mod machine;
mod modules;
mod mounts;
mod names;
mod pairs;
mod parameters;
mod texts;
mod unwritable;
