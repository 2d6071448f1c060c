import { loadConfiguration, type ConfigurationReader } from "../../../stacks/schema";

/** The mistakes that are reported, without the first line; none for a valid configuration. */
export function mistakesOf(reader: ConfigurationReader): string[] {
  try {
    loadConfiguration(reader);
    return [];
  } catch (error) {
    return (error as Error).message
      .split("\n")
      .slice(1)
      .map((line) => line.trim());
  }
}
