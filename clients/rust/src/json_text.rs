//! JSON as it travels: what no server accepts is refused before it is sent.

use serde::{Serialize, de::DeserializeOwned};
use tonic::Code as Status;

use crate::{Code, Error, Result};

/// The value as text. Refuses, naming the field, what JSON cannot say.
pub(crate) fn encode(value: &(impl Serialize + ?Sized), field: &str) -> Result<String> {
    serde_json::to_string(value).map_err(|error| invalid(field, &error.to_string()))
}

/// As `encode`, for what must be an object.
pub(crate) fn encode_object(value: &(impl Serialize + ?Sized), field: &str) -> Result<String> {
    let text = encode(value, field)?;
    if text.starts_with('{') { Ok(text) } else { Err(invalid(field, "an object is due here")) }
}

/// What a server wrote, as the caller's type.
pub(crate) fn decode<T: DeserializeOwned>(text: &[u8], field: &str) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| invalid(field, &error.to_string()))
}

fn invalid(field: &str, why: &str) -> Error {
    Error::new(Code::StateInvalid, Status::InvalidArgument, format!("{field}: {why}")).about("field", field)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::Value;

    use super::{decode, encode, encode_object};
    use crate::Code;

    proptest! {
        #[test]
        fn no_number_is_changed(whole in any::<i64>(), large in any::<u64>(), real in proptest::num::f64::NORMAL) {
            let text = encode(&(whole, large, real), "value_json").unwrap();
            let value: Value = decode(text.as_bytes(), "value_json").unwrap();
            prop_assert_eq!(value[0].as_i64(), Some(whole));
            prop_assert_eq!(value[1].as_u64(), Some(large));
            prop_assert_eq!(value[2].as_f64(), Some(real));
            prop_assert_eq!(encode(&value, "value_json").unwrap(), text);
        }
    }

    #[test]
    fn what_json_cannot_say_is_refused_by_the_fields_name() {
        let refused = encode(&HashMap::from([((1, 2), 3)]), "state_json").unwrap_err();
        assert_eq!((refused.code(), refused.metadata()["field"].as_str()), (&Code::StateInvalid, "state_json"));
        assert_eq!(encode_object(&[1], "state_json").unwrap_err().code(), &Code::StateInvalid);
    }
}
