//! What is known of a part of an expression before it is evaluated: enough to refuse `"a" + 1` on reading.

use crate::scope::Kind;

/// A kind that a part will certainly have, or `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Unknown,
    Nil,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    /// A list that certainly holds integers, and nothing else ever: a range.
    Ints,
    /// A list that certainly holds text: what splitting yields.
    Texts,
    /// A map with text as keys.
    Map,
    /// A map with keys of any kind.
    Groups,
    Duration,
    Moment,
    Month,
    Weekday,
    Zone,
}

/// A base, inside so many lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    base: Base,
    lists: u8,
}

impl From<Base> for Nature {
    fn from(base: Base) -> Self {
        Self { base, lists: 0 }
    }
}

impl From<Kind> for Nature {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Anything => Self::UNKNOWN,
            Kind::Nothing => Base::Nil.into(),
            Kind::Boolean => Base::Bool.into(),
            Kind::Integer => Base::Int.into(),
            Kind::Number => Base::Float.into(),
            Kind::Text => Base::Text.into(),
            Kind::List => Self::LIST,
            Kind::Map => Base::Map.into(),
        }
    }
}

impl Nature {
    pub(crate) const UNKNOWN: Self = Self { base: Base::Unknown, lists: 0 };
    /// A list of anything.
    pub(crate) const LIST: Self = Self { base: Base::Unknown, lists: 1 };

    /// A value of that base, outside any list.
    pub(crate) const fn of(base: Base) -> Self {
        Self { base, lists: 0 }
    }

    /// A list of this.
    pub(crate) fn in_list(self) -> Self {
        self.lists.checked_add(1).map_or(Self::LIST, |lists| Self { lists, ..self })
    }

    /// What it holds, if it is a list or a map.
    pub(crate) fn element(self) -> Self {
        match self.base {
            _ if self.lists > 0 => Self { lists: self.lists - 1, ..self },
            Base::Ints | Base::Bytes => Base::Int.into(),
            Base::Texts => Base::Text.into(),
            Base::Groups => Self::LIST,
            _ => Self::UNKNOWN,
        }
    }

    /// The base, unless it is inside a list.
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

    /// Whether two lists, or two other parts, are of the same broad kind.
    pub(crate) fn same_kind(self, other: Self) -> bool {
        self == other || self.is_list() && other.is_list() || self.is_map() && other.is_map()
    }

    /// Whether a value of this kind could stand where one of the other is expected. What lists hold doesn't
    /// matter, except for those that can't hold anything else.
    pub(crate) fn fits(self, other: Self) -> bool {
        if self.is_unknown() || other.is_unknown() || self.is_nil() {
            return false;
        }
        self == other || self.lists > 0 && other.lists > 0
    }

    /// Whether `==` makes sense.
    pub(crate) fn comparable(self, other: Self) -> bool {
        let either = |test: fn(Self) -> bool| test(self) || test(other);
        let both = |test: fn(Self) -> bool| test(self) && test(other);
        either(Self::is_unknown)
            || either(Self::is_nil)
            || both(Self::is_number)
            || both(Self::is_list)
            || self.fits(other)
    }

    /// Names it, for messages.
    pub(crate) fn name(self) -> &'static str {
        if self.lists > 0 {
            return "a list";
        }
        match self.base {
            Base::Unknown => "a value of unknown kind",
            Base::Nil => "nothing",
            Base::Bool => "a boolean",
            Base::Int => "an integer",
            Base::Float => "a number",
            Base::Text => "text",
            Base::Bytes => "bytes",
            Base::Ints | Base::Texts => "a list",
            Base::Map | Base::Groups => "a map",
            Base::Duration => "a duration",
            Base::Moment => "a date",
            Base::Month => "a month",
            Base::Weekday => "a weekday",
            Base::Zone => "a time zone",
        }
    }
}
