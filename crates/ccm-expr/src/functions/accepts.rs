//! Sets of kinds that an argument may have.

use crate::static_type::{Base, StaticType};

/// Set of kinds. The parser accepts any argument of unknown kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts(u16);

impl Accepts {
    pub(crate) const ANY: Self = Self(u16::MAX);
    pub(crate) const TEXT: Self = Self(1 << 1);
    pub(crate) const INT: Self = Self(1 << 2);
    const FLOAT: Self = Self(1 << 3);
    /// Durations, months and weekdays, which are stored as integers.
    const COUNTED: Self = Self(1 << 4);
    pub(crate) const LIST: Self = Self(1 << 5);
    pub(crate) const INTS: Self = Self(1 << 6);
    const BYTES: Self = Self(1 << 7);
    const MAP: Self = Self(1 << 8);
    pub(crate) const ZONE: Self = Self(1 << 9);
    const REST: Self = Self(1 << 15);

    pub(crate) const NUMBER: Self = Self(Self::INT.0 | Self::FLOAT.0 | Self::COUNTED.0);
    pub(crate) const LISTS: Self = Self(Self::LIST.0 | Self::INTS.0 | Self::BYTES.0);
    /// Lists whose elements may have an order.
    pub(crate) const SORTABLE: Self = Self(Self::LIST.0 | Self::INTS.0);
    pub(crate) const MAPS: Self = Self::MAP;
    pub(crate) const SIZED: Self = Self(Self::LISTS.0 | Self::MAP.0 | Self::TEXT.0);
    pub(crate) const NUMBER_OR_TEXT: Self = Self(Self::NUMBER.0 | Self::TEXT.0);
    pub(crate) const NUMBERS: Self = Self(Self::NUMBER.0 | Self::LISTS.0);

    pub(crate) fn takes(self, static_type: StaticType) -> bool {
        let kind = match static_type.base() {
            Some(Base::Unknown) => return true,
            Some(Base::Text) => Self::TEXT,
            Some(Base::Int) => Self::INT,
            Some(Base::Float) => Self::FLOAT,
            Some(Base::Duration | Base::Month | Base::Weekday) => Self::COUNTED,
            Some(Base::Ints) => Self::INTS,
            Some(Base::Bytes) => Self::BYTES,
            Some(Base::Map | Base::Groups) => Self::MAP,
            Some(Base::Zone) => Self::ZONE,
            Some(Base::Texts) | None => Self::LIST,
            Some(Base::Nil | Base::Bool | Base::DateTime) => Self::REST,
        };
        self.0 & kind.0 != 0
    }

    pub(crate) fn takes_numbers_and_lists(self) -> bool {
        self == Self::NUMBERS
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TEXT => "text",
            Self::INT => "an integer",
            Self::NUMBER => "a number",
            Self::LISTS | Self::LIST | Self::SORTABLE => "a list",
            Self::MAPS => "a map",
            Self::SIZED => "a list, a map or text",
            Self::NUMBER_OR_TEXT => "a number or text",
            Self::NUMBERS => "a number or a list of numbers",
            Self::ZONE => "a time zone",
            _ => "anything",
        }
    }
}
