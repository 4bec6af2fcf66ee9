#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| (ccm_fuzz::target("rules").run)(input));
