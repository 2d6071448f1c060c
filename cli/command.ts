import { Option } from "commander";

/** Returns an action that runs a command, whose module is loaded for it alone, and sets its exit code. */
export function running<Options>(load: () => Promise<(options: Options) => Promise<number>>) {
  return async (options: Options): Promise<void> => {
    const command = await load();
    process.exitCode = await command(options);
  };
}

/** Returns the option for the form of a report about drift. */
export const driftOutput = () =>
  new Option("--output <form>", "for a terminal (text) or for programs")
    .choices(["text", "json"])
    .default("text");
