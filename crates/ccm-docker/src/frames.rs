//! The stream of a container: both output streams in one, cut into frames.

use ccm_model::Stream;

/// Length of the head of a frame.
const HEAD: usize = 8;

/// Separates the streams. Frames may have any length, and come in pieces of any length.
#[derive(Debug, Default)]
pub(crate) struct FrameDecoder {
    head: [u8; HEAD],
    head_length: usize,
    kind: u8,
    /// Bytes of the frame that have not come yet.
    rest: usize,
}

/// Part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Bytes that the command printed.
    Output(Stream, &'a [u8]),
    /// Bytes of a message of the Engine itself.
    Message(&'a [u8]),
}

/// The bytes are not frames.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("its stream holds a frame of the unknown kind {0}")]
pub(crate) struct UnknownFrame(u8);

impl FrameDecoder {
    /// Takes the next bytes, and hands on the parts in them.
    pub(crate) fn push<'a>(
        &mut self,
        mut bytes: &'a [u8],
        on_part: &mut dyn FnMut(Part<'a>),
    ) -> Result<(), UnknownFrame> {
        while !bytes.is_empty() {
            if self.rest == 0 {
                let taken = bytes.len().min(HEAD - self.head_length);
                self.head[self.head_length..self.head_length + taken].copy_from_slice(&bytes[..taken]);
                self.head_length += taken;
                bytes = &bytes[taken..];
                if self.head_length < HEAD {
                    return Ok(());
                }
                self.head_length = 0;
                let [kind, _, _, _, length @ ..] = self.head;
                if kind > 3 {
                    return Err(UnknownFrame(kind));
                }
                self.kind = kind;
                self.rest = u32::from_be_bytes(length) as usize;
                continue;
            }
            let (part, others) = bytes.split_at(bytes.len().min(self.rest));
            self.rest -= part.len();
            bytes = others;
            on_part(match self.kind {
                2 => Part::Output(Stream::Stderr, part),
                3 => Part::Message(part),
                // 0 is standard input, which an Engine may send back as output.
                _ => Part::Output(Stream::Stdout, part),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&[kind, 0, 0, 0][..], &length, content].concat()
    }

    /// Returns standard output, standard error and messages.
    fn decoded(bytes: &[u8], read: usize) -> Result<[Vec<u8>; 3], UnknownFrame> {
        let mut decoder = FrameDecoder::default();
        let mut streams = [Vec::new(), Vec::new(), Vec::new()];
        for piece in bytes.chunks(read) {
            decoder.push(piece, &mut |part| match part {
                Part::Output(Stream::Stderr, bytes) => streams[1].extend_from_slice(bytes),
                Part::Output(_, bytes) => streams[0].extend_from_slice(bytes),
                Part::Message(bytes) => streams[2].extend_from_slice(bytes),
            })?;
        }
        Ok(streams)
    }

    #[test]
    fn a_frame_of_an_unknown_kind_is_refused() {
        assert_eq!(decoded(b"HTTP/1.1 200 OK", 4), Err(UnknownFrame(b'H')));
        assert_eq!(decoded(&frame(4, b"x"), 64), Err(UnknownFrame(4)));
    }

    proptest! {
        #[test]
        fn streams_do_not_depend_on_the_reads(
            frames in prop::collection::vec((0_u8..4, prop::collection::vec(any::<u8>(), 0..40)), 0..12),
            read in 1_usize..30,
        ) {
            let bytes: Vec<u8> = frames.iter().flat_map(|(kind, content)| frame(*kind, content)).collect();
            let of = |kinds: &[u8]| -> Vec<u8> {
                let own = frames.iter().filter(|(kind, _)| kinds.contains(kind));
                own.flat_map(|(_, content)| content.clone()).collect()
            };
            prop_assert_eq!(decoded(&bytes, read), Ok([of(&[0, 1]), of(&[2]), of(&[3])]));
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), read in 1_usize..30) {
            let _any = decoded(&bytes, read);
        }
    }
}
