//! Names of images.

/// Registry of images whose name has none.
pub(crate) const DEFAULT_REGISTRY: &str = "docker.io";

/// Image in a registry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImageReference<'a> {
    /// Name, with the registry if it is given.
    pub name: &'a str,
    /// Tag or digest. Without one, an Engine would pull every tag.
    pub tag: &'a str,
}

impl<'a> ImageReference<'a> {
    pub(crate) fn parse(image: &'a str) -> Self {
        if let Some((name, digest)) = image.split_once('@') {
            return Self { name, tag: digest };
        }
        // A colon before the last slash separates the port of a registry.
        match image.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => Self { name, tag },
            _ => Self { name: image, tag: "latest" },
        }
    }

    /// Returns the registry of an image: the first part of its name, if that can be a host.
    pub(crate) fn registry(image: &'a str) -> &'a str {
        match image.split_once('/') {
            Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => {
                if host == "index.docker.io" { DEFAULT_REGISTRY } else { host }
            }
            _ => DEFAULT_REGISTRY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_separated_from_its_tag() {
        for (image, name, tag) in [
            ("debian", "debian", "latest"),
            ("python:3.11-slim", "python", "3.11-slim"),
            ("localhost:5000/a/b", "localhost:5000/a/b", "latest"),
            ("localhost:5000/a/b:1", "localhost:5000/a/b", "1"),
            ("a/b@sha256:00ff", "a/b", "sha256:00ff"),
            ("a/b:1@sha256:00ff", "a/b:1", "sha256:00ff"),
        ] {
            assert_eq!(ImageReference::parse(image), ImageReference { name, tag }, "{image}");
        }
    }

    #[test]
    fn the_registry_is_the_first_part_that_can_be_a_host() {
        for (image, expected) in [
            ("debian:12", "docker.io"),
            ("ada/tool", "docker.io"),
            ("docker.io/ada/tool", "docker.io"),
            ("index.docker.io/ada/tool", "docker.io"),
            ("localhost/tool", "localhost"),
            ("localhost:5000/a/b:1", "localhost:5000"),
            ("registry.example/a@sha256:00ff", "registry.example"),
        ] {
            assert_eq!(ImageReference::registry(image), expected, "{image}");
        }
    }
}
