//! Macros that declare properties, sections and words.

/// Returns the name of the property that an identifier stands for: `r#match` stands for `match`.
#[doc(hidden)]
pub const fn property_name(identifier: &'static str) -> &'static str {
    match identifier.as_bytes() {
        [b'r', b'#', name @ ..] => match str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => identifier,
        },
        _ => identifier,
    }
}

/// Declares properties: the struct of their values, each an `Option`, and their table. A name that is a word of
/// Rust is written `r#match`.
///
/// Braces after a property hold fields that differ from [`PropertySpec::new`](crate::PropertySpec::new), such as the default.
///
/// ```
/// use ccm_properties::{PropertySet, Text, properties};
///
/// properties! {
///     /// Properties of a greeting.
///     #[derive(Debug, Default)]
///     pub struct GreetingProperties {
///         /// Text of the greeting.
///         text: Text { sensitive: true },
///         /// Say it twice.
///         twice: bool { default: Some("`false`") },
///     }
/// }
///
/// assert_eq!(GreetingProperties::PROPERTIES[1].full_documentation(), "Say it twice. Default: `false`.");
/// ```
#[macro_export]
macro_rules! properties {
    (@set $set:ident $({ $name:ident: $value:ty, $convert:expr, [$($line:literal)*], [$($key:ident: $given:expr),*] })*) => {
        impl $crate::PropertySet for $set {
            const PROPERTIES: &'static [$crate::PropertySpec] = &[$(
                $crate::PropertySpec {
                    $($key: $given,)*
                    ..$crate::PropertySpec::new::<$value>($crate::property_name(stringify!($name)), &[$($line),*])
                },
            )*];

            fn set(&mut self, entry: &$crate::NodeEntry, errors: &mut Vec<$crate::Diagnostic>) -> bool {
                $(
                    const {
                        &$crate::PropertySpec {
                            $($key: $given,)*
                            ..$crate::PropertySpec::new::<$value>($crate::property_name(stringify!($name)), &[])
                        }
                    }
                    .decode(entry, errors, |value: $value| self.$name = $convert(value)) ||
                )*
                false
            }
        }
    };
    ($(#[$attribute:meta])* $visibility:vis struct $set:ident {
        $($(#[doc = $line:literal])* $name:ident: $value:ty $({ $($key:ident: $given:expr),* $(,)? })?,)*
    }) => {
        $(#[$attribute])*
        $visibility struct $set {
            $($(#[doc = $line])* $visibility $name: Option<$value>,)*
        }

        $crate::properties! {
            @set $set $({ $name: $value, Some, [$($line)*], [$($($key: $given),*)?] })*
        }

        impl $crate::PropertyValue for $set {
            const KIND: $crate::PropertyKind =
                $crate::PropertyKind::Record { properties: <Self as $crate::PropertySet>::PROPERTIES, min: 0 };

            fn decode(node: &$crate::Node, errors: &mut Vec<$crate::Diagnostic>) -> Option<Self> {
                $crate::decode_record(node, errors)
            }
        }
    };
}

/// Declares a section: a struct of fields with their table, like [`properties!`](crate::properties), whose fields have
/// their own types. A field that is not given, or has an error, keeps its default.
///
/// The text after `=` names the section in errors. `as` is for a value that is a tuple struct: its first field is
/// converted to the type of the field. Braces hold fields that differ from
/// [`PropertySpec::new`](crate::PropertySpec::new), such as a `name` that is not the name of the field.
///
/// ```
/// use std::time::Duration;
///
/// use ccm_properties::{PositiveDuration, PropertySet, section};
///
/// section! {
///     /// Limits of a greeter.
///     #[derive(Debug, Default)]
///     pub struct GreeterLimits = "limits" {
///         /// Time between two greetings.
///         pause: PositiveDuration as Duration,
///         /// Names to greet.
///         names: Vec<String> { name: "greet", noun: Some("a list of names") },
///     }
/// }
///
/// assert_eq!(GreeterLimits::PROPERTIES[1].name, "greet");
/// ```
#[macro_export]
macro_rules! section {
    (@field $value:ty) => { $value };
    (@field $value:ty, $field:ty) => { $field };
    (@noun) => { "a map" };
    (@noun $noun:literal) => { $noun };
    (@convert $value:ty) => { std::convert::identity };
    (@convert $value:ty, $field:ty) => { |value: $value| <$field>::from(value.0) };
    ($(#[$attribute:meta])* $visibility:vis struct $section:ident $(= $noun:literal)? {
        $($(#[doc = $line:literal])* $name:ident: $value:ty $(as $field:ty)? $({ $($key:ident: $given:expr),* $(,)? })?,)*
    }) => {
        $(#[$attribute])*
        $visibility struct $section {
            $($(#[doc = $line])* $visibility $name: $crate::section!(@field $value $(, $field)?),)*
        }

        $crate::properties! {
            @set $section
            $({ $name: $value, ($crate::section!(@convert $value $(, $field)?)), [$($line)*], [$($($key: $given),*)?] })*
        }

        impl $crate::PropertyValue for $section {
            const KIND: $crate::PropertyKind =
                $crate::PropertyKind::Record { properties: <Self as $crate::PropertySet>::PROPERTIES, min: 0 };

            fn decode(node: &$crate::Node, errors: &mut Vec<$crate::Diagnostic>) -> Option<Self> {
                $crate::decode_section(node, $crate::section!(@noun $($noun)?), errors)
            }
        }
    };
}

/// Declares a value that is one of a few words: the enum, its `ALL`, `NAMES`, `name` and `parse`, and its
/// [`TextValue`](crate::TextValue). Of many words, errors use the noun after `=` in place of all words.
#[macro_export]
macro_rules! words {
    (@error $text:ident) => { $crate::ValueError::not_one_of($text, Self::NAMES) };
    (@error $text:ident, $noun:literal) => { $crate::ValueError::unknown($noun, $text, Self::NAMES) };
    ($(#[$attribute:meta])* $visibility:vis enum $words:ident $(= $noun:literal)? {
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$attribute])*
        $visibility enum $words {
            $($(#[$about])* $variant,)*
        }

        impl $words {
            /// Every value, in the order of the declaration.
            $visibility const ALL: [Self; Self::NAMES.len()] = [$(Self::$variant),*];

            /// Names of the values.
            $visibility const NAMES: &'static [&'static str] = &[$($word),*];

            /// Returns the name of the value in a file.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Returns the value of a name.
            $visibility fn parse(name: &str) -> Option<Self> {
                match name {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::TextValue for $words {
            const KIND: $crate::PropertyKind = $crate::PropertyKind::Words(Self::NAMES);

            fn from_text(text: &str) -> Result<Self, $crate::ValueError> {
                Self::parse(text).ok_or_else(|| $crate::words!(@error text $(, $noun)?))
            }
        }
    };
}
