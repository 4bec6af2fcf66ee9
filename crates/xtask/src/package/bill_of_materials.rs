//! The bill of materials: the crates that the program is made of, in the JSON format of `CycloneDX` 1.5.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::components::{Component, CrateId, PROGRAM};
use super::{Release, hexadecimal};

/// Library of the compiler's toolchain or of the system that the program holds besides crates.
pub(super) struct Library {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) license: &'static str,
    /// Program that holds the library; `None` for each of them.
    pub(super) only_in: Option<&'static str>,
}

/// Returns the bill as a text that ends with a newline.
pub(super) fn bill(
    release: &Release,
    components: &BTreeMap<CrateId, Component>,
    libraries: &[Library],
) -> Result<String, String> {
    let seconds = i64::try_from(release.seconds).map_err(|error| error.to_string())?;
    let time = jiff::Timestamp::from_second(seconds).map_err(|error| error.to_string())?;
    let of_crates = components.iter().filter(|((name, _), _)| name != PROGRAM);
    let listed =
        of_crates.map(|(id, component)| component_of(id, component)).chain(libraries.iter().map(library));
    let uses = components.iter().map(|(id, component)| {
        json!({"ref": reference(id), "dependsOn": component.uses.iter().map(reference).collect::<Vec<_>>()})
    });
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "",
        "version": 1,
        "metadata": {
            "timestamp": time.to_string(),
            "component": {
                "type": "application",
                "bom-ref": reference(&(PROGRAM.to_owned(), release.version.clone())),
                "name": "ccm",
                "version": release.version,
                "licenses": [{"expression": release.license}],
            },
        },
        "components": listed.collect::<Vec<_>>(),
        "dependencies": uses.collect::<Vec<_>>(),
    });
    // The same content has the same number.
    let digest = hexadecimal(&Sha256::digest(bill.to_string()));
    let part = |range: std::ops::Range<usize>| digest[range].to_owned();
    let number =
        [part(0..8), part(8..12), format!("8{}", part(13..16)), format!("8{}", part(17..20)), part(20..32)];
    bill["serialNumber"] = format!("urn:uuid:{}", number.join("-")).into();
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

fn component_of(id: &CrateId, component: &Component) -> Value {
    let (name, version) = id;
    let mut value = json!({
        "type": "library",
        "bom-ref": reference(id),
        "name": name,
        "version": version,
        "purl": reference(id),
    });
    if let Some(license) = &component.license {
        value["licenses"] = json!([{"expression": license}]);
    }
    if let Some(checksum) = &component.checksum {
        value["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    value
}

fn library(library: &Library) -> Value {
    let package = format!("pkg:generic/{}@{}", library.name, library.version);
    let mut value = json!({
        "type": "library",
        "bom-ref": package,
        "name": library.name,
        "version": library.version,
        "purl": package,
        "licenses": [{"expression": library.license}],
    });
    if let Some(program) = library.only_in {
        value["properties"] = json!([{"name": "ccm:only-in", "value": program}]);
    }
    value
}

fn reference((name, version): &CrateId) -> String {
    format!("pkg:cargo/{name}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bill_lists_crates_and_libraries() {
        let id = |name: &str| (name.to_owned(), "1.0.0".to_owned());
        let program = Component { uses: [id("serde")].into(), ..Component::default() };
        let serde = Component {
            license: Some("MIT OR Apache-2.0".to_owned()),
            checksum: Some("abc".to_owned()),
            ..Component::default()
        };
        let components = BTreeMap::from([(id(PROGRAM), program), (id("serde"), serde)]);
        let glibc = Library {
            name: "glibc",
            version: "2.36".to_owned(),
            license: "LGPL-2.1-or-later",
            only_in: Some("static"),
        };
        let text = bill(&Release::for_tests(), &components, &[glibc]).expect("a bill");
        let bill: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
        assert_eq!(bill["components"][0]["purl"], "pkg:cargo/serde@1.0.0");
        assert_eq!(bill["components"][0]["hashes"][0]["content"], "abc");
        assert_eq!(bill["components"][1]["properties"][0]["value"], "static");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["pkg:cargo/serde@1.0.0"]));
        assert_eq!(bill["serialNumber"].as_str().map(str::len), Some(45));
    }
}
