import type * as pulumi from "@pulumi/pulumi";
import type { Configuration } from "./schema";

/** One system: what a stack of it is made of, and the outputs it exports. */
interface System {
  build(configuration: Configuration): Record<string, pulumi.Output<unknown>>;
}

/** The systems by name; a stack loads only its own. */
/* eslint-disable @typescript-eslint/no-require-imports */
export const systems: Record<Configuration["system"], () => System> = {
  ssh: () => ({ build: (require("./ssh") as typeof import("./ssh")).ssh }),
};
