//! Makes the stubs from a descriptor set of the contract: `codegen DESCRIPTOR_SET FOLDER` writes `clew.v1.rs` into the folder.

use std::{env, error::Error, fs, path::Path};

use prost::Message as _;
use prost_types::FileDescriptorSet;

const STUBS: &str = "clew.v1.rs";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [descriptors, folder] = arguments.as_slice() else {
        return Err("usage: codegen DESCRIPTOR_SET FOLDER".into());
    };
    let contract = FileDescriptorSet::decode(fs::read(descriptors)?.as_slice())?;
    // What google's files are made to is left there: the annotations are for gateways, and the statuses come from a crate.
    let made = Path::new(descriptors).with_extension("made");
    fs::create_dir_all(&made)?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .extern_path(".google.rpc", "::tonic_types::pb")
        .out_dir(&made)
        .compile_fds_with_config(contract, prost_build::Config::new())?;
    fs::create_dir_all(folder)?;
    fs::copy(made.join(STUBS), Path::new(folder).join(STUBS))?;
    Ok(())
}
