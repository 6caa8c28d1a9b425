//! Fingerprints: short names for content.

use sha2::{Digest, Sha256};

/// Returns the first 16 hexadecimal digits of the SHA-256 of some texts. It is the same on every machine and in every version,
/// so that it can name files and folders.
pub fn fingerprint<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        // The length comes first, so that ("ab", "c") and ("a", "bc") differ.
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first 16 hexadecimal digits of the SHA-256 of some bytes.
pub fn fingerprint_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_same_everywhere_and_depends_on_where_texts_end() {
        assert_eq!(fingerprint([]), "e3b0c44298fc1c14");
        assert_eq!(fingerprint(["a"]), fingerprint(["a"]));
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
    }
}
