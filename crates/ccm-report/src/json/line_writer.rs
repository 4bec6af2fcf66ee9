//! Serializer for lines.

use std::fmt::Display;

use serde::ser::{Error as _, Impossible, Serialize, SerializeStruct, Serializer};
use serde_json::Error;

/// Serializer of the structs of lines. Their field names hold no characters to escape and are written
/// unchanged, because `serde_json` would search each, which takes a fifth of the time of an event.
pub(super) struct LineWriter<'b>(pub(super) &'b mut Vec<u8>);

impl SerializeStruct for LineWriter<'_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "inlined, the length of the name is a constant, and the copy needs no call"
    )]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        // A comma ends each field; `end` removes the last one.
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        serde_json::to_writer(&mut *self.0, value)?;
        self.0.push(b',');
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        self.0.pop_if(|last| *last == b',');
        self.0.push(b'}');
        Ok(())
    }
}

/// Refuses the forms that no line has.
macro_rules! refused {
    ($($method:ident $([$bound:path])? ($($argument:ty),*) -> $returned:ty;)*) => {
        $(fn $method$(<T: $bound + ?Sized>)?(self, $(_: $argument),*) -> Result<$returned, Error> {
            Err(Error::custom("a line is a struct"))
        })*
    };
}

impl Serializer for LineWriter<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeStruct = Self;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        self.0.clear();
        self.0.push(b'{');
        Ok(self)
    }

    refused! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_some[Serialize](&T) -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_newtype_struct[Serialize](&'static str, &T) -> ();
        serialize_newtype_variant[Serialize](&'static str, u32, &'static str, &T) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), Error> {
        Err(Error::custom("a line is a struct"))
    }
}
