//! Schemas of property values that read themselves.

/// Writes `JsonSchema` for values that are too small for a definition of their own.
macro_rules! inline_schema {
    ($($type:ident $(<$parameter:ident>)? => |$generator:ident| $schema:expr;)*) => {$(
        impl$(<$parameter: schemars::JsonSchema>)? schemars::JsonSchema for $type$(<$parameter>)? {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    )*};
}

pub(crate) use inline_schema;
