//! Templates: values in, text out.
//!
//! Nothing here reads a file, the environment or the clock: what is needed is asked for.

mod templates;

pub use templates::{
    Mentions, ScopeError, TemplateError, TemplateFault, TemplatePlace, TemplateScope, mentions, render,
    render_with_lines,
};
