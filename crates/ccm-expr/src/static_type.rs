//! Kinds known before evaluation: enough to refuse `"a" + 1` while parsing.

use crate::scope::NameKind;

/// Certain kind of a node, or `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Unknown,
    Nil,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    /// List of integers only: a range.
    Ints,
    /// List of texts only: the result of splitting.
    Texts,
    /// Map with text keys.
    Map,
    /// Map with keys of any kind.
    Groups,
    Duration,
    DateTime,
    Month,
    Weekday,
    Zone,
}

/// Base kind, nested in a number of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StaticType {
    base: Base,
    lists: u8,
}

impl From<Base> for StaticType {
    fn from(base: Base) -> Self {
        Self { base, lists: 0 }
    }
}

impl From<NameKind> for StaticType {
    fn from(kind: NameKind) -> Self {
        match kind {
            NameKind::Anything => Self::UNKNOWN,
            NameKind::Nothing => Base::Nil.into(),
            NameKind::Boolean => Base::Bool.into(),
            NameKind::Integer => Base::Int.into(),
            NameKind::Number => Base::Float.into(),
            NameKind::Text => Base::Text.into(),
            NameKind::List => Self::LIST,
            NameKind::Map => Base::Map.into(),
        }
    }
}

impl StaticType {
    pub(crate) const UNKNOWN: Self = Self { base: Base::Unknown, lists: 0 };
    pub(crate) const LIST: Self = Self { base: Base::Unknown, lists: 1 };

    pub(crate) const fn of(base: Base) -> Self {
        Self { base, lists: 0 }
    }

    pub(crate) fn in_list(self) -> Self {
        self.lists.checked_add(1).map_or(Self::LIST, |lists| Self { lists, ..self })
    }

    pub(crate) fn element(self) -> Self {
        match self.base {
            _ if self.lists > 0 => Self { lists: self.lists - 1, ..self },
            Base::Ints | Base::Bytes => Base::Int.into(),
            Base::Texts => Base::Text.into(),
            Base::Groups => Self::LIST,
            _ => Self::UNKNOWN,
        }
    }

    /// Returns the base, unless it is in a list.
    pub(crate) fn base(self) -> Option<Base> {
        (self.lists == 0).then_some(self.base)
    }

    fn is(self, base: Base) -> bool {
        self.base() == Some(base)
    }

    pub(crate) fn is_unknown(self) -> bool {
        self.is(Base::Unknown)
    }

    pub(crate) fn is_nil(self) -> bool {
        self.is(Base::Nil)
    }

    pub(crate) fn is_bool(self) -> bool {
        self.is(Base::Bool)
    }

    pub(crate) fn is_int(self) -> bool {
        self.is(Base::Int)
    }

    pub(crate) fn is_number(self) -> bool {
        self.is(Base::Int) || self.is(Base::Float)
    }

    pub(crate) fn is_text(self) -> bool {
        self.is(Base::Text)
    }

    pub(crate) fn is_list(self) -> bool {
        self.lists > 0 || matches!(self.base, Base::Ints | Base::Texts | Base::Bytes)
    }

    pub(crate) fn is_map(self) -> bool {
        self.is(Base::Map) || self.is(Base::Groups)
    }

    /// Returns `true` for two lists, two maps or two equal types.
    pub(crate) fn same_kind(self, other: Self) -> bool {
        self == other || self.is_list() && other.is_list() || self.is_map() && other.is_map()
    }

    /// Returns `true` if a value of this type may stand where `other` is expected. The elements of lists are
    /// ignored, except for lists with a fixed kind of elements.
    pub(crate) fn fits(self, other: Self) -> bool {
        if self.is_unknown() || other.is_unknown() || self.is_nil() {
            return false;
        }
        self == other || self.lists > 0 && other.lists > 0
    }

    /// Returns `true` if `==` between the types makes sense.
    pub(crate) fn comparable(self, other: Self) -> bool {
        let either = |test: fn(Self) -> bool| test(self) || test(other);
        let both = |test: fn(Self) -> bool| test(self) && test(other);
        either(Self::is_unknown)
            || either(Self::is_nil)
            || both(Self::is_number)
            || both(Self::is_list)
            || self.fits(other)
    }

    pub(crate) fn name(self) -> &'static str {
        if self.lists > 0 {
            return "a list";
        }
        match self.base {
            Base::Unknown => "a value of unknown type",
            Base::Nil => "nothing",
            Base::Bool => "a boolean",
            Base::Int => "an integer",
            Base::Float => "a number",
            Base::Text => "text",
            Base::Bytes => "bytes",
            Base::Ints | Base::Texts => "a list",
            Base::Map | Base::Groups => "a map",
            Base::Duration => "a duration",
            Base::DateTime => "a date",
            Base::Month => "a month",
            Base::Weekday => "a weekday",
            Base::Zone => "a time zone",
        }
    }
}
