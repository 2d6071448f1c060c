import { skipDiagnostics } from "../lib/pulumi/diagnostics";
import { makeStructsFast } from "../lib/pulumi/fast-structs";
import { printMessagesOnly } from "../lib/pulumi/stack-traces";
import { displayWarnings } from "../lib/text/warnings";

// when the program is loaded, not when it runs: its first promise may already fail
printMessagesOnly();
displayWarnings();
skipDiagnostics();
makeStructsFast();
