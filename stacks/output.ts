import { skipDiagnostics } from "../lib/pulumi/diagnostics";
import { makeStructsFast } from "../lib/pulumi/fast-structs";
import { printMessagesOnly } from "../lib/pulumi/stack-traces";

// when the program is loaded, not when it runs: its first promise may already fail
printMessagesOnly();
skipDiagnostics();
makeStructsFast();
