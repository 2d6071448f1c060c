/** Where a value stands inside the configuration: object keys and list indexes. */
export type ConfigurationPath = readonly (string | number)[];

/** One thing that is wrong, with the mend in its message. */
export interface Mistake {
  path: ConfigurationPath;
  message: string;
}

/** Writes a path as a person would: `cluster.machines[2].role`, `cluster.registries.mirrors["docker.io"]`. */
export function formatPath(path: ConfigurationPath): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(part)) return `[${JSON.stringify(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}
