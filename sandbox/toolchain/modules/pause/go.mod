module foresail/sandbox/toolchain/pause

go 1.26
