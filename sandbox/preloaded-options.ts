// Preloaded into the node processes that the sandbox's engine starts. The language host of the tool chain is older than
// the engine and does not receive the options of Pulumi.yaml; every program here is compiled and says `typescript:
// false`, without which Pulumi loads the TypeScript compiler before the program (docs/adr/0009-toolchain.md).
process.env["PULUMI_NODEJS_TYPESCRIPT"] = "false";
