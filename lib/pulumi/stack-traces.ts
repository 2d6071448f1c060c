import { debuglog } from "node:util";
import { displayText } from "../text/display";

/** NODE_DEBUG=foresail prints the stack traces that messages leave out. */
const debug = debuglog("foresail");

/**
 * Makes an error's message displayable and leaves out its stack trace, which tells a user nothing. Pulumi prints the
 * message alone of an error without a stack. (Node 20.20 to 26.3 prints the stacks of programs with @pulumi/pulumi for
 * minutes in colors: https://github.com/nodejs/node/issues/64011.)
 */
export function leaveOutStack(error: Error): void {
  debug("%s", displayText(error.stack ?? ""));
  error.message = displayText(error.message);
  error.stack = "";
}

/** Lets Pulumi print the messages alone of this program's exceptions, also of those in an `apply`. */
export function printMessagesOnly(): void {
  const leaveOut = (error: unknown) => {
    if (error instanceof Error) leaveOutStack(error);
  };
  // a first listener would keep Node.js from ending the process
  if (process.listenerCount("uncaughtException") > 0) process.prependListener("uncaughtException", leaveOut);
  if (process.listenerCount("unhandledRejection") > 0)
    process.prependListener("unhandledRejection", leaveOut);
}
