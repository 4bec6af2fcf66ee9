//! Variables with which interpreters and their like find code, or get options that run code.

/// The variables. Those of the other programs stand in `variables`.
const LOADED: [&str; 31] = [
    "AWKLIBPATH",
    "AWKPATH",
    "BUN_OPTIONS",
    "EMACSLOADPATH",
    "ERL_FLAGS",
    "ERL_LIBS",
    "GUILE_LOAD_COMPILED_PATH",
    "GUILE_LOAD_PATH",
    "JULIA_DEPOT_PATH",
    "JULIA_LOAD_PATH",
    "LESSEDIT",
    "LESSKEY",
    "LESSKEYIN",
    "LESSKEY_CONTENT",
    "M4PATH",
    "MAKEFILES",
    "NODE_REPL_EXTERNAL_MODULE",
    "PSQL_EDITOR",
    "PSQL_PAGER",
    "PYTHONEXECUTABLE",
    "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX",
    "RUBYGEMS_GEMDEPS",
    "RUBYSHELL",
    "R_ENVIRON",
    "R_LIBS",
    "R_PROFILE",
    "SBCL_HOME",
    "TCL_LIBRARY",
    "VIM",
    "VIMRUNTIME",
];

/// Returns `true` for a variable whose value is loaded or run.
pub(super) fn is_loaded(name: &str) -> bool {
    LOADED.contains(&name)
}
