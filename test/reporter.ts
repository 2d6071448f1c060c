import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import Mocha from "mocha";
import type { SuiteResult } from "./counting";
import { reasonOf } from "./left-out";
import { SECONDS_TO_END } from "./mocha-process";

/** Mocha's own listing on the terminal, and at the end the counts in the file named by the reporter option `output`. */
class ListingAndCounts extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { output } = (options.reporterOptions ?? {}) as { output?: string };
    if (output === undefined) throw new Error("the reporter needs --reporter-option output=FILE");
    let passed = 0;
    const failures: { title: string; error: string }[] = [];
    const pending: { title: string; reason: string }[] = [];
    runner.on("pass", () => (passed += 1));
    runner.on("fail", (test, error: Error) =>
      failures.push({ title: test.fullTitle(), error: (error.stack ?? error.message).slice(0, 2000) }),
    );
    runner.on("pending", (test) => pending.push({ title: test.fullTitle(), reason: reasonOf(test) }));
    runner.once("end", () => {
      writeWhole(output, { passed, failures, pending });
      // only a process that something keeps alive gets to this
      const look = () =>
        writeWhole(output, { passed, failures, pending, active: process.getActiveResourcesInfo() });
      setTimeout(look, SECONDS_TO_END * 500).unref();
    });
  }
}

/** A reader never sees half a file: the file represents a completed run. */
function writeWhole(file: string, result: SuiteResult): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(result, undefined, 2));
  renameSync(`${file}.new`, file);
}

export = ListingAndCounts;
