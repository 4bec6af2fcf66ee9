//! Processors, one entry per thread.

mod arm;

use serde_json::{Value, json};

use crate::reader::FactReader;

const PROCESSORS: &str = "/proc/cpuinfo";

#[derive(Debug, Default)]
struct Processor {
    number: u64,
    vendor: String,
    family: String,
    model: String,
    stepping: i64,
    physical: String,
    core: String,
    name: String,
    megahertz: f64,
    cache: i64,
    flags: Vec<String>,
    microcode: String,
}

pub(crate) fn info(reader: &mut FactReader<'_>) -> Value {
    let Some(text) = reader.text(PROCESSORS) else { return json!([]) };
    let processors = parse(&text);
    if processors.is_empty() {
        reader.unexpected(PROCESSORS, "processor");
    }
    processors.into_iter().map(|processor| finish(reader, processor)).collect()
}

fn finish(reader: &mut FactReader<'_>, mut processor: Processor) -> Value {
    let about = format!("/sys/devices/system/cpu/cpu{}", processor.number);
    if processor.core.is_empty() {
        processor.core = reader.line(&format!("{about}/topology/core_id")).unwrap_or_default();
    }
    // The maximum frequency, not the current one.
    let kilohertz = reader.line(&format!("{about}/cpufreq/cpuinfo_max_freq"));
    if let Some(kilohertz) = kilohertz.and_then(|number| frequency(&number)) {
        processor.megahertz = kilohertz / 1000.0;
    }
    json!({
        "cpu": processor.number,
        "vendorId": processor.vendor,
        "family": processor.family,
        "model": processor.model,
        "stepping": processor.stepping,
        "physicalId": processor.physical,
        "coreId": processor.core,
        "cores": 1,
        "modelName": processor.name,
        "mhz": processor.megahertz,
        "cacheSize": processor.cache,
        "flags": processor.flags,
        "microcode": processor.microcode,
    })
}

/// Parses the blocks of `/proc/cpuinfo`. An invalid number counts as 0.
fn parse(text: &str) -> Vec<Processor> {
    let mut processors: Vec<Processor> = Vec::new();
    // Some old kernels print the name once, before the first block.
    let mut name_of_all = String::new();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim());
        match (key, processors.last_mut()) {
            ("Processor", _) => value.clone_into(&mut name_of_all),
            ("processor" | "cpu number", _) => {
                let Ok(number) = value.parse() else { continue };
                let name = name_of_all.clone();
                processors.push(Processor { number, name, ..Processor::default() });
            }
            (_, Some(processor)) => processor.set(key, value),
            (_, None) => {}
        }
    }
    processors
}

impl Processor {
    fn set(&mut self, key: &str, value: &str) {
        let number = |value: &str| value.parse().unwrap_or_default();
        match key {
            "vendor_id" | "vendorId" => value.clone_into(&mut self.vendor),
            "CPU implementer" => arm::vendor(value).clone_into(&mut self.vendor),
            "cpu family" | "marchid" => value.clone_into(&mut self.family),
            "CPU part" => {
                value.clone_into(&mut self.model);
                if self.vendor == arm::ARM {
                    arm::model(value).clone_into(&mut self.name);
                }
            }
            "model" | "mimpid" => value.clone_into(&mut self.model),
            "model name" | "Model Name" | "cpu" | "uarch" => self.learn_name(value),
            "stepping" | "CPU revision" => self.stepping = number(value),
            "revision" => self.stepping = number(value.split('.').next().unwrap_or_default()),
            "cpu MHz" | "clock" | "cpu MHz dynamic" => {
                self.megahertz = frequency(value.trim_end_matches("MHz")).unwrap_or_default();
            }
            "cache size" => self.cache = number(value.trim_end_matches(" KB")),
            "physical id" | "hart" => value.clone_into(&mut self.physical),
            "core id" => value.clone_into(&mut self.core),
            "flags" | "Features" => {
                let words = value.split([',', ' ']).filter(|word| !word.is_empty());
                self.flags = words.map(str::to_owned).collect();
            }
            "isa" | "hart isa" if self.flags.is_empty() => self.flags = extensions(value),
            "microcode" => value.clone_into(&mut self.microcode),
            _ => {}
        }
    }

    fn learn_name(&mut self, value: &str) {
        value.clone_into(&mut self.name);
        if value.contains("POWER") {
            value.split(' ').next().unwrap_or_default().clone_into(&mut self.model);
            "POWER".clone_into(&mut self.family);
            "IBM".clone_into(&mut self.vendor);
        }
    }
}

fn frequency(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Returns the extensions in the name of a RISC-V architecture: `rv64imac_zicsr`.
fn extensions(name: &str) -> Vec<String> {
    let Some(name) = name.strip_prefix("rv64") else { return Vec::new() };
    let mut parts = name.split('_');
    let letters = parts.next().unwrap_or_default().chars().map(String::from);
    letters.chain(parts.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_many_kinds_are_read() {
        let x86 = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n\
            model name\t: Intel(R) Xeon(R) @ 2.00GHz\nstepping: 3\nmicrocode\t: 0x1\ncpu MHz\t\t: 2000.184\n\
            cache size\t: 39424 KB\nphysical id\t: 0\ncore id\t\t: 7\nflags\t\t: fpu vme\n\n\
            processor\t: 1\nvendor_id\t: GenuineIntel\n";
        let found = parse(x86);
        assert_eq!(found.len(), 2);
        let first = &found[0];
        assert_eq!((first.number, first.stepping, first.cache), (0, 3, 39424));
        assert!((first.megahertz - 2000.184).abs() < 1e-9);
        assert_eq!(first.flags, ["fpu", "vme"]);
        let texts =
            [&first.vendor, &first.family, &first.model, &first.physical, &first.core, &first.microcode];
        assert_eq!(texts, ["GenuineIntel", "6", "85", "0", "7", "0x1"]);
        assert_eq!(first.name, "Intel(R) Xeon(R) @ 2.00GHz");
        assert_eq!((found[1].number, found[1].vendor.as_str()), (1, "GenuineIntel"));

        let named = |text: &str| -> Vec<[String; 3]> {
            parse(text).into_iter().map(|found| [found.vendor, found.model, found.name]).collect()
        };
        for (text, expected) in [
            (
                "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\nCPU revision : 1\n",
                ["ARM", "0xd0c", "Neoverse-N1"],
            ),
            ("processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n", ["ARM", "0xfff", "Undefined"]),
            ("processor : 0\nCPU implementer : 0xc0\nCPU part : 0xac3\n", ["Ampere", "0xac3", ""]),
            ("processor : 0\nCPU implementer : 0x01\nCPU part : 0x1\n", ["", "0x1", ""]),
            ("Processor : ARMv7 rev 4 (v7l)\nprocessor : 0\n", ["", "", "ARMv7 rev 4 (v7l)"]),
            (
                "processor : 0\ncpu : POWER9 (raw), altivec supported\nrevision : 2.2 (pvr 004e 1202)\n",
                ["IBM", "POWER9", "POWER9 (raw), altivec supported"],
            ),
        ] {
            assert_eq!(named(text), [expected.map(str::to_owned)], "{text}");
        }
        assert_eq!(
            parse("processor : 0\nhart : 1\nisa : rv64im_zicsr_zba\n")[0].flags,
            ["i", "m", "zicsr", "zba"]
        );
        assert!(parse("vendor_id : X\nprocessor : many\n").is_empty());
    }
}
